/**
 * The state of one backend for who looks from outside: the admin server's `/state`, and what the dashboard, the system
 * tables and `spillway top` are made of. Plain JSON. Times named `atMs`, `sinceMs`, ... are ms since `startedAt`.
 */
import type { PairRate } from '../../actors/throttle/limit-action.js';
import type { LimitMove } from '../../actors/throttle/limit-move.js';
import type { ThrottleReason } from '../../actors/throttle/throttle-reason.js';
import type { KvTableStats } from '../kv/kv-meters.js';
import type { RuntimeEventName, RuntimeEvents } from '../runtime-events.js';
import type { RuntimeSnapshot } from '../snapshot.js';

export interface RuntimeState {
  /** Of this form. */
  readonly schema: 1;
  /** The option `backendId`, decimal: it may be beyond what a JSON number holds. null: none was given. */
  readonly backendId: string | null;
  readonly runtimeId: string;
  readonly pid: number;
  readonly hostname: string;
  /** Wall clock, ISO 8601. */
  readonly startedAt: string;
  readonly now: string;
  /** `now`, in the time of all other `...Ms`. */
  readonly atMs: number;
  /** null: a process without a runtime, such as a key-value server. Its `limits` are those of `throttled`. */
  readonly runtime: RuntimeSnapshot | null;
  /** Pairs that are slowed now, the most severe first. At most 1000 of `throttledTotal`, or as many as were asked for. */
  readonly throttled: readonly ThrottledPair[];
  readonly throttledTotal: number;
  /**
   * Pairs that are asked for most, slowed or not, the fastest first, at most 20. Calls per second since the state was last
   * asked for, if that was from 0.5 to 10 s ago; otherwise as they were told last, or none.
   */
  readonly hottest?: readonly PairRate[];
  /** Changes of table limits, oldest first, at most 1000. */
  readonly history: readonly ThrottleRecord[];
  /** Oldest first, at most 1000. */
  readonly events: readonly RecordedEvent[];
  /** Key-value stores of this process. */
  readonly stores: readonly StoreState[];
}

export interface ThrottledPair {
  readonly rpc: string;
  readonly table: string;
  /** Calls per second. */
  readonly qpsLimit: number;
  readonly currentQps: number;
  /** Rate at which it was first slowed, calls per second; null: not known (a control thread has died in between). */
  readonly qpsBefore: number | null;
  /** First slowed, and last changed; null: not known. */
  readonly sinceMs: number | null;
  readonly changedMs: number | null;
  /** Upgrades in force that slowed it. */
  readonly steps: number;
}

export interface ThrottleRecord {
  /** Counts from 1 over the life of the runtime. */
  readonly seq: number;
  readonly atMs: number;
  readonly kind: 'upgrade' | 'downgrade' | 'lifted';
  /** Upgrades in force afterwards. */
  readonly level: number;
  /** For people: `412 BUSY in 3000 ms`, `quiet for 3000 ms`, `switched off`. */
  readonly reason: string;
  /** The same, for programs. */
  readonly cause: ThrottleReason;
  /** At most 100 of `changed`. */
  readonly changes: readonly LimitMove[];
  /** Pairs whose limit was changed. */
  readonly changed: number;
}

/** An event with its place in the order of all events of this runtime. */
export type RecordedEvent = {
  readonly [Name in RuntimeEventName]: {
    /** Counts from 1. */
    readonly seq: number;
    /** When the owner's thread was told; what an event itself says of when it happened may be earlier. */
    readonly atMs: number;
    readonly name: Name;
    readonly event: RuntimeEvents[Name];
  };
}[RuntimeEventName];

export interface StoreState {
  readonly name: string;
  readonly tables: readonly KvTableStats[];
  /** Bytes of the log on disk. */
  readonly logBytes: number;
}
