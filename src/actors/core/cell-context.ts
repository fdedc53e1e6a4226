import { IllegalStateError } from '../../shared/errors.js';
import type { ActorCell } from './actor-cell.js';
import type { ActorRef, AnyActorRef } from './actor-ref.js';
import type { ActorTree } from './actor-tree.js';
import type { AskLedger } from './ask-ledger.js';
import type {
  ActorContext,
  Behavior,
  ContextAskOptions,
  SpawnOptions,
  TellOutcome,
  TimerId,
} from './behavior.js';
import { checkedDelay, type TimerLedger } from './timer-ledger.js';

/** What a context needs of its system. */
export interface ContextPorts {
  readonly nowMs: () => number;
  readonly tell: (path: string, message: unknown) => TellOutcome;
  readonly find: (path: string) => ActorCell | undefined;
  readonly spawn: (
    parent: ActorCell,
    behavior: Behavior<unknown, unknown>,
    options: SpawnOptions,
  ) => ActorRef<unknown>;
  readonly timers: TimerLedger;
  readonly asks: AskLedger;
  readonly tree: ActorTree;
}

/** The context of one actor, for all of its incarnations. */
export class CellContext implements ActorContext<unknown> {
  readonly #cell: ActorCell;
  readonly #ports: ContextPorts;

  constructor(cell: ActorCell, ports: ContextPorts) {
    this.#cell = cell;
    this.#ports = ports;
  }

  get self(): ActorRef<unknown> {
    return this.#cell.ref;
  }

  nowMs(): number {
    return this.#ports.nowMs();
  }

  tell<Target>(target: ActorRef<Target>, message: Target): TellOutcome {
    return this.#ports.tell(target.path, message);
  }

  ask<Request, Reply>(
    target: ActorRef<Request>,
    request: (replyTo: ActorRef<Reply>) => Request,
    options: ContextAskOptions<Reply, unknown>,
  ): void {
    const asker = this.#alive('ask');
    const { onOutcome } = options;
    this.#ports.asks.ask({
      target,
      targetCell: this.#ports.find(target.path),
      timeoutMs: checkedDelay('timeoutMs', options.timeoutMs, 0),
      asker,
      send: (replyTo) => this.tell(target, request(replyTo as ActorRef<Reply>)),
      settle: (outcome, askPath) =>
        this.#ports.tree.post(asker, {
          kind: 'settled',
          askPath,
          toMessage: () => onOutcome(outcome as Parameters<typeof onOutcome>[0]),
        }),
    });
  }

  spawn<ChildState, ChildMessage>(
    behavior: Behavior<ChildState, ChildMessage>,
    options: SpawnOptions,
  ): ActorRef<ChildMessage> {
    const parent = this.#alive('spawn');
    return this.#ports.spawn(parent, behavior as Behavior<unknown, unknown>, options);
  }

  watch(target: AnyActorRef): void {
    const watcher = this.#alive('watch');
    const cell = this.#ports.find(target.path);
    if (cell === undefined) {
      const signal = { kind: 'terminated', ref: target, reason: 'stopped' } as const;
      this.#ports.tree.post(watcher, { kind: 'signal', signal });
      return;
    }
    watcher.watching.add(cell);
    cell.watchers.add(watcher);
  }

  unwatch(target: AnyActorRef): void {
    const cell = this.#ports.find(target.path);
    if (cell === undefined) return;
    this.#cell.watching.delete(cell);
    cell.watchers.delete(this.#cell);
  }

  after(delayMs: number, message: unknown): TimerId {
    return this.#ports.timers.after(this.#alive('after'), delayMs, message);
  }

  every(intervalMs: number, message: unknown): TimerId {
    return this.#ports.timers.every(this.#alive('every'), intervalMs, message);
  }

  cancel(timer: TimerId): void {
    this.#ports.timers.cancel(this.#cell, timer);
  }

  stop(child?: AnyActorRef): void {
    if (child === undefined || this.#cell.isRef(child)) {
      this.#cell.stopRequested = true;
      return;
    }
    const cell = this.#ports.find(child.path);
    if (cell === undefined) return;
    if (cell.parent !== this.#cell) {
      throw new IllegalStateError(`${child.path} is no child of ${this.#cell.path}`);
    }
    this.#ports.tree.post(cell, { kind: 'stop' });
  }

  #alive(verb: string): ActorCell {
    if (this.#cell.status === 'stopped') {
      throw new IllegalStateError(`${verb}: ${this.#cell.path} has stopped`);
    }
    return this.#cell;
  }
}
