import type { ActorRef, AnyActorRef } from './actor-ref.js';
import type { ActorContext, Behavior, TimerId } from './behavior.js';
import { Mailbox } from './mailbox.js';
import type { Signal } from './signal.js';
import type { SupervisionPolicy } from './supervision.js';

/** What the control lane carries. */
export type ControlItem =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'signal'; readonly signal: Signal }
  | { readonly kind: 'timer'; readonly id: TimerId }
  | { readonly kind: 'settled'; readonly askPath: string; readonly toMessage: () => unknown }
  /** Of the system to its own timer actor, which must not lose any. */
  | { readonly kind: 'message'; readonly message: unknown };

/** A timer of an actor that has not fired for the last time. */
export interface LiveTimer {
  readonly message: unknown;
  readonly repeats: boolean;
  /** Its message is in the mailbox. */
  queued: boolean;
}

export type CellStatus = 'new' | 'running' | 'stopped';

/** What the system knows of one actor. Only `ActorTree` writes it. */
export class ActorCell {
  readonly ref: ActorRef<unknown>;
  readonly parent: ActorCell | undefined;
  readonly behavior: Behavior<unknown, unknown>;
  readonly policy: SupervisionPolicy;
  readonly mailbox: Mailbox<unknown, ControlItem>;
  readonly children: Set<ActorCell> = new Set();
  readonly watching: Set<ActorCell> = new Set();
  readonly watchers: Set<ActorCell> = new Set();
  readonly timers: Map<TimerId, LiveTimer> = new Map();
  /** Paths of the asks that this actor made and of those that were made of it. */
  readonly asksMade: Set<string> = new Set();
  readonly asksReceived: Set<string> = new Set();
  readonly #step: (cell: ActorCell) => void;
  status: CellStatus = 'new';
  state: unknown;
  restartsAtMs: readonly number[] = [];
  stopRequested = false;
  queued = false;
  /** Set once, right after construction. */
  context!: ActorContext<unknown>;

  constructor(
    path: string,
    parent: ActorCell | undefined,
    behavior: Behavior<unknown, unknown>,
    policy: SupervisionPolicy,
    step: (cell: ActorCell) => void,
  ) {
    this.ref = Object.freeze({ path });
    this.parent = parent;
    this.behavior = behavior;
    this.policy = policy;
    this.mailbox = new Mailbox(behavior.mailbox);
    this.#step = step;
  }

  get path(): string {
    return this.ref.path;
  }

  hasWork(): boolean {
    return !this.mailbox.isEmpty;
  }

  step(): void {
    this.#step(this);
  }

  isRef(ref: AnyActorRef): boolean {
    return ref.path === this.ref.path;
  }
}
