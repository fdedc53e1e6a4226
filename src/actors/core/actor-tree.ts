import type { ActorCell, ControlItem } from './actor-cell.js';
import type { ActorFailure } from './actor-failure.js';
import type { AskLedger } from './ask-ledger.js';
import type { DeadLetterReason } from './dead-letter.js';
import type { EndReason, Signal } from './signal.js';
import { decideFailure } from './supervision.js';
import type { TimerLedger } from './timer-ledger.js';

export interface ActorTreePorts {
  readonly nowMs: () => number;
  readonly timers: TimerLedger;
  readonly asks: AskLedger;
  readonly enqueue: (cell: ActorCell) => void;
  readonly forget: (cell: ActorCell) => void;
  readonly deadLetter: (reason: DeadLetterReason, path: string, message: unknown) => void;
  readonly failed: (failure: ActorFailure) => void;
}

/**
 * The life of an actor: start, one item of work at a time, failure and what supervision makes of it, end. Whatever a
 * behaviour throws ends here. An actor's end is one step: children first, then its `stopped` signal, then all that it
 * held is given back, then parent and watchers are told.
 */
export class ActorTree {
  readonly #ports: ActorTreePorts;

  constructor(ports: ActorTreePorts) {
    this.#ports = ports;
  }

  post(cell: ActorCell, item: ControlItem): void {
    if (cell.status === 'stopped') return;
    cell.mailbox.pushControl(item);
    this.#ports.enqueue(cell);
  }

  /** One item: control first. */
  step(cell: ActorCell): void {
    if (cell.mailbox.controlLength > 0) this.#control(cell, cell.mailbox.takeControl());
    else this.#receive(cell, cell.mailbox.take());
  }

  /** Ends the actor and all below it, now. Not to be called while one of them is at work. */
  stop(cell: ActorCell, reason: EndReason, error?: unknown): void {
    if (cell.status === 'stopped') return;
    for (const child of [...cell.children].reverse()) this.stop(child, 'stopped');
    if (cell.status === 'running') this.#lastSignal(cell, { kind: 'stopped' });
    cell.status = 'stopped';
    cell.state = undefined;
    this.#release(cell);
    for (const message of cell.mailbox.close()) {
      this.#ports.deadLetter('stopped', cell.path, message);
    }
    this.#ports.asks.failAllOf(cell);
    cell.parent?.children.delete(cell);
    this.#ports.forget(cell);
    const signal: Signal =
      reason === 'failed'
        ? { kind: 'terminated', ref: cell.ref, reason, error }
        : { kind: 'terminated', ref: cell.ref, reason };
    if (cell.parent !== undefined) cell.watchers.add(cell.parent);
    for (const watcher of cell.watchers) this.post(watcher, { kind: 'signal', signal });
    cell.watchers.clear();
  }

  #control(cell: ActorCell, item: ControlItem): void {
    switch (item.kind) {
      case 'start':
        this.#start(cell);
        break;
      case 'stop':
        this.stop(cell, 'stopped');
        break;
      case 'signal':
        this.#signal(cell, item.signal);
        break;
      case 'timer':
        this.#timer(cell, item.id);
        break;
      case 'settled':
        if (cell.asksMade.delete(item.askPath)) this.#receiveLazily(cell, item.toMessage);
        break;
      case 'message':
        this.#receive(cell, item.message);
        break;
    }
  }

  #start(cell: ActorCell): void {
    const started = this.#guard(cell, () => {
      cell.state = cell.behavior.initialState();
      cell.status = 'running';
    });
    if (started) this.#signal(cell, { kind: 'started' });
  }

  #signal(cell: ActorCell, signal: Signal): void {
    const { onSignal } = cell.behavior;
    if (onSignal === undefined) return;
    this.#run(cell, () => onSignal(cell.state, signal, cell.context));
  }

  #timer(cell: ActorCell, id: number): void {
    const timer = cell.timers.get(id);
    // Cancelled after it was queued.
    if (timer === undefined) return;
    timer.queued = false;
    if (!timer.repeats) cell.timers.delete(id);
    this.#receive(cell, timer.message);
  }

  #receive(cell: ActorCell, message: unknown): void {
    this.#run(cell, () => cell.behavior.receive(cell.state, message, cell.context));
  }

  #receiveLazily(cell: ActorCell, toMessage: () => unknown): void {
    this.#run(cell, () => cell.behavior.receive(cell.state, toMessage(), cell.context));
  }

  #run(cell: ActorCell, next: () => unknown): void {
    const succeeded = this.#guard(cell, () => {
      cell.state = next();
    });
    if (succeeded && cell.stopRequested) this.stop(cell, 'stopped');
  }

  #guard(cell: ActorCell, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.#fail(cell, error);
      return false;
    }
  }

  #fail(cell: ActorCell, error: unknown): void {
    const atMs = this.#ports.nowMs();
    const decision = decideFailure(cell.policy, cell.restartsAtMs, error, atMs);
    cell.restartsAtMs = decision.restartsAtMs;
    // An actor that asked for its end before it threw gets it.
    const directive =
      decision.directive === 'restart' && cell.stopRequested ? 'stop' : decision.directive;
    const fatal = directive === 'escalate' && cell.parent === undefined;
    this.#ports.failed({ path: cell.path, error, directive, fatal, atMs });
    if (directive === 'restart') {
      this.#restart(cell, error);
      return;
    }
    const parent = cell.parent;
    this.stop(cell, 'failed', error);
    if (directive === 'escalate' && parent !== undefined) this.#fail(parent, error);
  }

  /** The new incarnation begins as an item of work, so that one which fails at once takes turns like everybody. */
  #restart(cell: ActorCell, error: unknown): void {
    if (cell.status === 'running') this.#lastSignal(cell, { kind: 'pre-restart', error });
    for (const child of [...cell.children].reverse()) this.stop(child, 'stopped');
    this.#release(cell);
    cell.status = 'new';
    cell.state = undefined;
    // Timers, settled asks and ends of children concern the old incarnation.
    const rest = cell.mailbox.drainControl().filter((item) => item.kind === 'stop');
    for (const item of [{ kind: 'start' } as const, ...rest]) cell.mailbox.pushControl(item);
    this.#ports.enqueue(cell);
  }

  #lastSignal(cell: ActorCell, signal: Signal): void {
    try {
      cell.behavior.onSignal?.(cell.state, signal, cell.context);
    } catch (error) {
      const atMs = this.#ports.nowMs();
      this.#ports.failed({ path: cell.path, error, directive: 'none', fatal: false, atMs });
    }
  }

  #release(cell: ActorCell): void {
    this.#ports.timers.cancelAllOf(cell);
    this.#ports.asks.forgetAllOf(cell);
    for (const watched of cell.watching) watched.watchers.delete(cell);
    cell.watching.clear();
  }
}
