import { IllegalStateError } from '../../shared/errors.js';
import { createTimerBehavior, type TimerMessage } from '../timer/timer-actor.js';
import { ActorCell } from './actor-cell.js';
import type { ActorFailure } from './actor-failure.js';
import type { ActorRef, AnyActorRef } from './actor-ref.js';
import { ActorTree } from './actor-tree.js';
import { AskLedger } from './ask-ledger.js';
import type { Behavior, SpawnOptions, TellOutcome } from './behavior.js';
import { CellContext, type ContextPorts } from './cell-context.js';
import type { DeadLetter } from './dead-letter.js';
import { Dispatcher } from './dispatcher.js';
import { EventStream } from './event-stream.js';
import { PostOffice } from './post-office.js';
import { resolveSupervision } from './supervision.js';
import type { SystemStats } from './system-stats.js';
import type { TimerDriver } from './timer-driver.js';
import { checkedDelay, TimerLedger } from './timer-ledger.js';

export interface ActorSystemOptions {
  /** Port: monotonic ms, possibly with a fraction. A step back, or no number, counts as no time. */
  readonly clock: () => number;
  /** Port: runs the given function soon (a macrotask keeps the thread responsive) or at once (tests). */
  readonly schedule: (run: () => void) => void;
  /** Port: the wake-ups of the timer actor. */
  readonly timerDriver: TimerDriver;
  /** Messages that one actor handles before the next has its turn, an integer >= 1. Default 32. */
  readonly batch?: number;
  /** Messages of one scheduled run, an integer >= 1. Default 1024. */
  readonly runBudget?: number;
  /**
   * A top-level actor failed for good: its supervision escalated and nobody is above it. The other actors go on. Called in
   * a scheduled run of its own, so that it may throw to end its thread; what it throws into a `schedule` that runs at once
   * is counted.
   */
  readonly onFatal?: (failure: ActorFailure) => void;
}

export interface StopOptions {
  /** How long messages that are under way may still be handled, ms. Default 1000. */
  readonly deadlineMs?: number;
}

export interface StopReport {
  /** Every message was handled; otherwise the deadline came first, and what was left is in the dead letters. */
  readonly drained: boolean;
}

/** Actors of one thread. Nothing that a behaviour or a listener throws leaves it. */
export interface ActorSystem {
  readonly deadLetters: EventStream<DeadLetter>;
  readonly failures: EventStream<ActorFailure>;
  /** Starts a top-level actor. `IllegalStateError` once the system stops. */
  spawn<State, Message>(
    behavior: Behavior<State, Message>,
    options: SpawnOptions,
  ): ActorRef<Message>;
  /** Sends from outside of any actor. */
  tell<Message>(target: ActorRef<Message>, message: Message): TellOutcome;
  /** Rejects with `AskTimeoutError`, `ActorStoppedError` or `MailboxOverflowError`. */
  ask<Request, Reply>(
    target: ActorRef<Request>,
    request: (replyTo: ActorRef<Reply>) => Request,
    options: { readonly timeoutMs: number },
  ): Promise<Reply>;
  /** Ends an actor, of any level, before its next message. */
  stopActor(target: AnyActorRef): void;
  /**
   * Takes nothing more from outside, lets the messages under way be handled (timers that wait are not waited for), then
   * ends all actors. Leaves no actor, timer or ask; idempotent.
   */
  stop(options?: StopOptions): Promise<StopReport>;
  stats(): SystemStats;
}

export function createActorSystem(options: ActorSystemOptions): ActorSystem {
  return new LocalActorSystem(options);
}

const NAME = /^[\w.-]+$/;

class LocalActorSystem implements ActorSystem {
  readonly failures: EventStream<ActorFailure> = new EventStream();
  readonly #clock: () => number;
  readonly #schedule: (run: () => void) => void;
  readonly #onFatal: (failure: ActorFailure) => void;
  readonly #post: PostOffice;
  readonly #roots = new Set<ActorCell>();
  readonly #dispatcher: Dispatcher;
  readonly #timers: TimerLedger;
  readonly #asks: AskLedger;
  readonly #tree: ActorTree;
  readonly #contextPorts: ContextPorts;
  readonly #timerCell: ActorCell;
  #failureCount = 0;
  #fatalListenerFailures = 0;
  #spawned = 0;
  #nowMs = 0;
  #phase: 'running' | 'draining' | 'stopped' = 'running';
  #drainUntilMs = 0;
  #stopping: Promise<StopReport> | undefined;
  #resolveStop: (report: StopReport) => void = () => {};

  constructor(options: ActorSystemOptions) {
    this.#clock = options.clock;
    this.#schedule = options.schedule;
    this.#onFatal = options.onFatal ?? (() => {});
    this.#dispatcher = new Dispatcher({
      schedule: options.schedule,
      batch: atLeastOne('batch', options.batch ?? 32),
      runBudget: atLeastOne('runBudget', options.runBudget ?? 1024),
      onBatch: () => this.#watchDeadline(),
      onIdle: () => this.#whenIdle(),
    });
    this.#timers = new TimerLedger({
      nowMs: () => this.#readClock(),
      tell: (message) => this.#tellTimers(message),
      deliver: (cell, id) => this.#tree.post(cell, { kind: 'timer', id }),
    });
    this.#asks = new AskLedger(this.#timers);
    this.#post = new PostOffice({
      nowMs: () => this.#readClock(),
      asks: this.#asks,
      enqueue: (cell) => this.#dispatcher.enqueue(cell),
    });
    this.#tree = new ActorTree({
      nowMs: () => this.#readClock(),
      timers: this.#timers,
      asks: this.#asks,
      enqueue: (cell) => this.#dispatcher.enqueue(cell),
      forget: (cell) => this.#forget(cell),
      deadLetter: (reason, path, message) => this.#post.deadLetter(reason, path, message),
      failed: (failure) => this.#failed(failure),
    });
    this.#contextPorts = {
      nowMs: () => this.#readClock(),
      tell: (path, message) => this.#post.tell(path, message),
      find: (path) => this.#post.find(path),
      spawn: (parent, behavior, spawnOptions) => this.#create(parent, behavior, spawnOptions).ref,
      timers: this.#timers,
      asks: this.#asks,
      tree: this.#tree,
    };
    const timerBehavior = createTimerBehavior({
      driver: options.timerDriver,
      fire: (id) => this.#timers.fire(id),
      wake: () => this.#tellTimers({ kind: 'wake' }),
    });
    // Not restarted: its state is every timer of the system. A driver that throws is fatal.
    this.#timerCell = this.#create(undefined, timerBehavior as Behavior<unknown, unknown>, {
      name: 'timers',
      supervision: { onFailure: 'escalate' },
    });
  }

  get deadLetters(): EventStream<DeadLetter> {
    return this.#post.deadLetters;
  }

  spawn<State, Message>(
    behavior: Behavior<State, Message>,
    options: SpawnOptions,
  ): ActorRef<Message> {
    if (this.#phase !== 'running') throw new IllegalStateError('spawn: the system has stopped');
    const cell = this.#create(undefined, behavior as Behavior<unknown, unknown>, options);
    this.#roots.add(cell);
    return cell.ref;
  }

  tell<Message>(target: ActorRef<Message>, message: Message): TellOutcome {
    if (this.#phase === 'running') return this.#post.tell(target.path, message);
    this.#post.deadLetter('system-stopping', target.path, message);
    return 'dead';
  }

  ask<Request, Reply>(
    target: ActorRef<Request>,
    request: (replyTo: ActorRef<Reply>) => Request,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#asks.ask({
        target,
        targetCell: this.#post.find(target.path),
        timeoutMs: checkedDelay('timeoutMs', timeoutMs, 0),
        asker: undefined,
        send: (replyTo) => this.tell(target, request(replyTo as ActorRef<Reply>)),
        settle: (outcome) => {
          if (outcome.ok) resolve(outcome.reply as Reply);
          else reject(outcome.error);
        },
      });
    });
  }

  stopActor(target: AnyActorRef): void {
    const cell = this.#post.find(target.path);
    if (cell !== undefined && cell !== this.#timerCell) this.#tree.post(cell, { kind: 'stop' });
  }

  stop({ deadlineMs = 1000 }: StopOptions = {}): Promise<StopReport> {
    if (this.#stopping !== undefined) return this.#stopping;
    checkedDelay('deadlineMs', deadlineMs, 0);
    this.#stopping = new Promise((resolve) => {
      this.#resolveStop = resolve;
    });
    this.#phase = 'draining';
    this.#drainUntilMs = this.#readClock() + deadlineMs;
    if (this.#dispatcher.isIdle) this.#finish(true);
    return this.#stopping;
  }

  stats(): SystemStats {
    return {
      actors: this.#post.size - (this.#timerCell.status === 'stopped' ? 0 : 1),
      timers: this.#timers.size,
      asks: this.#asks.size,
      deadLetters: this.#post.counts,
      failures: this.#failureCount,
      listenerFailures:
        this.#fatalListenerFailures +
        this.deadLetters.listenerFailures +
        this.failures.listenerFailures,
    };
  }

  #create(
    parent: ActorCell | undefined,
    behavior: Behavior<unknown, unknown>,
    { name, supervision }: SpawnOptions,
  ): ActorCell {
    if (!NAME.test(name)) {
      throw new TypeError(`name must consist of letters, digits, '-', '_' and '.', got ${name}`);
    }
    this.#spawned += 1;
    const cell = new ActorCell(
      `${parent?.path ?? ''}/${name}#${this.#spawned}`,
      parent,
      behavior,
      resolveSupervision(supervision),
      (runnable) => this.#tree.step(runnable),
    );
    cell.context = new CellContext(cell, this.#contextPorts);
    this.#post.register(cell);
    parent?.children.add(cell);
    this.#tree.post(cell, { kind: 'start' });
    return cell;
  }

  #tellTimers(message: TimerMessage): void {
    this.#tree.post(this.#timerCell, { kind: 'message', message });
  }

  #readClock(): number {
    const nowMs = this.#clock();
    if (nowMs > this.#nowMs && Number.isFinite(nowMs)) this.#nowMs = nowMs;
    return this.#nowMs;
  }

  #failed(failure: ActorFailure): void {
    this.#failureCount += 1;
    this.failures.publish(failure);
    if (!failure.fatal) return;
    try {
      this.#schedule(() => this.#onFatal(failure));
    } catch {
      this.#fatalListenerFailures += 1;
    }
  }

  #forget(cell: ActorCell): void {
    this.#post.forget(cell);
    this.#roots.delete(cell);
  }

  #watchDeadline(): void {
    if (this.#phase === 'draining' && this.#readClock() >= this.#drainUntilMs) this.#finish(false);
  }

  #whenIdle(): void {
    if (this.#phase === 'draining') this.#finish(true);
  }

  #finish(drained: boolean): void {
    this.#phase = 'stopped';
    for (const root of [...this.#roots].reverse()) this.#tree.stop(root, 'stopped');
    this.#asks.failRest();
    this.#tree.stop(this.#timerCell, 'stopped');
    this.#resolveStop({ drained });
  }
}

function atLeastOne(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 1) {
    throw new RangeError(`${name} must be an integer >= 1, got ${String(value)}`);
  }
  return value;
}
