/** What a runtime tells of itself, by `runtime.on(name, listener)`. */
import type { BreakerEvent } from '../actors/breaker/breaker-event.js';
import type { LimitAction } from '../actors/throttle/limit-action.js';
import type { LimitMove } from '../actors/throttle/limit-move.js';
import type { ThrottleReason } from '../actors/throttle/throttle-reason.js';

/** A change of the table limits. Times are ms since the runtime's epoch. */
export interface ThrottleChange {
  /** Upgrades in force afterwards. */
  readonly level: number;
  readonly actions: readonly LimitAction[];
  /** What each action did to whom. */
  readonly changes: readonly LimitMove[];
  /** Pairs whose limit was changed. A recorded event holds at most 100 of `actions` and `changes`. */
  readonly changed: number;
  readonly reason: ThrottleReason;
  readonly atMs: number;
}

/** What one kind of event tells, beside its kind. */
type Told<Kind extends BreakerEvent['kind']> = Omit<Extract<BreakerEvent, { kind: Kind }>, 'kind'>;

export interface RuntimeEvents {
  /** The hottest tables were slowed. `actions` may be empty: nothing was fast enough to be slowed. */
  readonly upgrade: ThrottleChange;
  /** The newest upgrade was undone. */
  readonly downgrade: ThrottleChange;
  /** Table limits were switched off; all of them are gone. */
  readonly lifted: ThrottleChange;
  /** The circuit of an address has opened: its calls are refused in every thread. */
  readonly 'circuit-open': Told<'circuit-open'>;
  /** One call tries the address. */
  readonly 'circuit-half-open': Told<'circuit-half-open'>;
  readonly 'circuit-closed': Told<'circuit-closed'>;
  /** A new configuration is in force in every thread. */
  readonly config: { readonly version: number };
  /** A thread has attached, and is watched. `threads` are attached now. */
  readonly 'thread-attached': { readonly threads: number; readonly threadId: number };
  /** An attached thread has ended, or left. `threadId` null: it had not said, or nobody watched it any more. */
  readonly 'thread-ended': { readonly threads: number; readonly threadId: number | null };
  /** The control thread has died and its successor has taken over; limits in force were not touched. `reason`: '' when it just ended. */
  readonly 'control-restart': {
    readonly generation: number;
    readonly restarts: number;
    readonly level: number;
    readonly reason: string;
  };
  /** Shared WebAssembly memory was refused: the slower `Atomics` kernel is in use. */
  readonly 'kernel-fallback': { readonly reason: string };
  /** `calls` went through uncounted and unlimited: there was no room for another pair. At most once a minute. */
  readonly 'directory-full': {
    readonly used: number;
    readonly capacity: number;
    readonly calls: number;
  };
  /** `failures` counted for nothing: there was no room for another unhealthy address. At most once a minute. */
  readonly 'addresses-full': { readonly failures: number };
  /** The control thread does not keep up: of `records`, `busy` lose nothing, `other` may be events. At most once a minute. */
  readonly 'ring-drops': {
    readonly records: number;
    readonly busy: number;
    readonly other: number;
  };
  /** Calls were refused for want of permits, in the host-level limit or the limit of a table. At most once a minute each. */
  readonly 'calls-refused': {
    readonly rpc: string;
    readonly stage: 'host' | 'table';
    readonly refused: number;
  };
  readonly closed: Record<string, never>;
}

export type RuntimeEventName = keyof RuntimeEvents;

const NAMES: { readonly [Name in RuntimeEventName]: true } = {
  upgrade: true,
  downgrade: true,
  lifted: true,
  'circuit-open': true,
  'circuit-half-open': true,
  'circuit-closed': true,
  config: true,
  'thread-attached': true,
  'thread-ended': true,
  'control-restart': true,
  'kernel-fallback': true,
  'directory-full': true,
  'addresses-full': true,
  'ring-drops': true,
  'calls-refused': true,
  closed: true,
};

export const RUNTIME_EVENTS: readonly RuntimeEventName[] = Object.keys(NAMES) as RuntimeEventName[];

/** One event with its name, as it crosses threads. */
export type ControlEvent = {
  readonly [Name in RuntimeEventName]: { readonly name: Name; readonly event: RuntimeEvents[Name] };
}[RuntimeEventName];
