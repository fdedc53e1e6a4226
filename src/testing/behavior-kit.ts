import type { ActorRef, AnyActorRef } from '../actors/core/actor-ref.js';
import type {
  ActorContext,
  AskOutcome,
  Behavior,
  ContextAskOptions,
  SpawnOptions,
  TellOutcome,
  TimerId,
} from '../actors/core/behavior.js';
import type { Signal } from '../actors/core/signal.js';
import { IllegalStateError } from '../shared/errors.js';
import type { Effect } from './effect.js';

export interface BehaviorKitOptions {
  /** What the context says that the time is, ms. Default 0. */
  readonly nowMs?: number;
  /** What the context says became of a message. Default: `accepted`. */
  readonly tellOutcome?: (target: AnyActorRef, message: unknown) => TellOutcome;
}

/** See {@link BehaviorKit}. */
export function createBehaviorKit<State, Message>(
  behavior: Behavior<State, Message>,
  options?: BehaviorKitOptions,
): BehaviorKit<State, Message> {
  return new BehaviorKit(behavior, options);
}

/**
 * Runs one behaviour by hand, without a system: a message in, the next state and the effects out. No other actor runs,
 * no timer fires by itself, and what the behaviour throws comes straight out. Begins with the `started` signal.
 */
export class BehaviorKit<State, Message> {
  readonly #behavior: Behavior<State, Message>;
  readonly #context: RecordingContext<Message>;
  #state: State;

  constructor(behavior: Behavior<State, Message>, options: BehaviorKitOptions = {}) {
    this.#behavior = behavior;
    this.#context = new RecordingContext(options);
    this.#state = behavior.initialState();
    this.signal({ kind: 'started' });
  }

  get state(): State {
    return this.#state;
  }

  /** The behaviour's own address. */
  get self(): ActorRef<Message> {
    return this.#context.self;
  }

  /** Delivers a message; returns the effects that it had. */
  run(message: Message): readonly Effect[] {
    return this.#record(() => this.#behavior.receive(this.#state, message, this.#context));
  }

  /** Delivers a signal; returns the effects that it had. */
  signal(signal: Signal): readonly Effect[] {
    const { onSignal } = this.#behavior;
    if (onSignal === undefined) return [];
    return this.#record(() => onSignal(this.#state, signal, this.#context));
  }

  /** Lets a timer fire: delivers its message. `IllegalStateError` when it does not wait (fired once, or cancelled). */
  fire(timer: TimerId): readonly Effect[] {
    return this.run(this.#context.takeTimer(timer) as Message);
  }

  /** Settles an ask effect: delivers the message that its outcome becomes. */
  settle(ask: Effect, outcome: AskOutcome<unknown>): readonly Effect[] {
    if (ask.kind !== 'ask') throw new TypeError(`settle needs an ask effect, got ${ask.kind}`);
    return this.run(ask.toMessage(outcome) as Message);
  }

  /** Moves the context's clock. Timers do not fire by it. */
  setNow(nowMs: number): void {
    this.#context.setNow(nowMs);
  }

  /** All effects since the kit was made, or since the last call. */
  takeEffects(): readonly Effect[] {
    return this.#context.takeEffects();
  }

  /** Timers that wait, oldest first. */
  get timers(): readonly TimerId[] {
    return this.#context.timers;
  }

  #record(next: () => State): readonly Effect[] {
    const before = this.#context.effects.length;
    this.#state = next();
    return this.#context.effects.slice(before);
  }
}

class RecordingContext<Message> implements ActorContext<Message> {
  readonly self: ActorRef<Message> = Object.freeze({ path: '/behavior-under-test#1' });
  readonly #tellOutcome: (target: AnyActorRef, message: unknown) => TellOutcome;
  readonly #timers = new Map<TimerId, { readonly message: unknown; readonly repeats: boolean }>();
  #effects: Effect[] = [];
  #nowMs: number;
  #count = 0;

  constructor({ nowMs = 0, tellOutcome = () => 'accepted' }: BehaviorKitOptions) {
    this.#nowMs = nowMs;
    this.#tellOutcome = tellOutcome;
  }

  get effects(): readonly Effect[] {
    return this.#effects;
  }

  get timers(): readonly TimerId[] {
    return [...this.#timers.keys()];
  }

  takeEffects(): readonly Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  takeTimer(id: TimerId): unknown {
    const timer = this.#timers.get(id);
    if (timer === undefined) throw new IllegalStateError(`timer ${id} does not wait`);
    if (!timer.repeats) this.#timers.delete(id);
    return timer.message;
  }

  setNow(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  tell<Target>(target: ActorRef<Target>, message: Target): TellOutcome {
    this.#effects.push({ kind: 'tell', target, message });
    return this.#tellOutcome(target, message);
  }

  ask<Request, Reply>(
    target: ActorRef<Request>,
    request: (replyTo: ActorRef<Reply>) => Request,
    { timeoutMs, onOutcome }: ContextAskOptions<Reply, Message>,
  ): void {
    const replyTo = this.#newRef<unknown>('ask');
    this.#effects.push({
      kind: 'ask',
      target,
      message: request(replyTo),
      replyTo,
      timeoutMs,
      toMessage: (outcome) => onOutcome(outcome as AskOutcome<Reply>),
    });
  }

  spawn<ChildState, ChildMessage>(
    behavior: Behavior<ChildState, ChildMessage>,
    options: SpawnOptions,
  ): ActorRef<ChildMessage> {
    const ref = this.#newRef<ChildMessage>(options.name);
    this.#effects.push({
      kind: 'spawn',
      ref,
      behavior: behavior as unknown as Behavior<never, never>,
      options,
    });
    return ref;
  }

  watch(target: AnyActorRef): void {
    this.#effects.push({ kind: 'watch', target });
  }

  unwatch(target: AnyActorRef): void {
    this.#effects.push({ kind: 'unwatch', target });
  }

  after(delayMs: number, message: Message): TimerId {
    const timer = this.#newTimer(message, false);
    this.#effects.push({ kind: 'after', timer, delayMs, message });
    return timer;
  }

  every(intervalMs: number, message: Message): TimerId {
    const timer = this.#newTimer(message, true);
    this.#effects.push({ kind: 'every', timer, intervalMs, message });
    return timer;
  }

  cancel(timer: TimerId): void {
    this.#timers.delete(timer);
    this.#effects.push({ kind: 'cancel', timer });
  }

  stop(child?: AnyActorRef): void {
    this.#effects.push(child === undefined ? { kind: 'stop' } : { kind: 'stop', target: child });
  }

  #newTimer(message: unknown, repeats: boolean): TimerId {
    this.#count += 1;
    this.#timers.set(this.#count, { message, repeats });
    return this.#count;
  }

  #newRef<Target>(name: string): ActorRef<Target> {
    this.#count += 1;
    return Object.freeze({ path: `${this.self.path}/${name}#${this.#count}` });
  }
}
