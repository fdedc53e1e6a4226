/** Puts the state of a backend together: what the arena says now, and what the owner remembers. */
import { hostname } from 'node:os';
import type { PairRate } from '../../actors/throttle/limit-action.js';
import { describeValue } from '../../shared/quota.js';
import { checkKnown } from '../known-options.js';
import type { KvStoreStats } from '../kv/kv-store.js';
import type { RuntimeSnapshot } from '../snapshot.js';
import type { EventLog } from './event-log.js';
import type { RuntimeState } from './runtime-state.js';
import type { ThrottleHistory } from './throttle-history.js';

export interface StateOptions {
  /** Key-value stores of this process, by a name that tells them apart. Default: none. */
  readonly stores?: Readonly<Record<string, { stats(): KvStoreStats }>>;
  /** Slowed pairs that are listed, the most severe ones. Default: 1000. */
  readonly maxPairs?: number;
}

export interface StateParts {
  readonly runtimeId: string;
  readonly backendId: number | bigint | null;
  /** Wall clock at the epoch. */
  readonly startedAt: Date;
  readonly snapshot: RuntimeSnapshot;
  /** Default: none is known. */
  readonly hottest?: readonly PairRate[];
  readonly events: EventLog;
  readonly history: ThrottleHistory;
}

const OPTIONS: ReadonlySet<string> = new Set<keyof StateOptions>(['stores', 'maxPairs']);

/** @throws TypeError, RangeError for bad options. */
export function readState(
  { runtimeId, backendId, startedAt, snapshot, hottest = [], events, history }: StateParts,
  options: StateOptions,
): RuntimeState {
  checkKnown(options, OPTIONS);
  const { stores = {}, maxPairs = 1000 } = options;
  checkStores(stores);
  if (!Number.isSafeInteger(maxPairs) || maxPairs < 0)
    throw new RangeError(`maxPairs must be an integer >= 0, got ${describeValue(maxPairs)}`);
  const { limits } = snapshot;
  const throttled = history.throttled(limits, maxPairs);
  return {
    schema: 1,
    backendId: backendId === null ? null : String(backendId),
    runtimeId,
    pid: process.pid,
    hostname: hostname(),
    startedAt: startedAt.toISOString(),
    now: new Date().toISOString(),
    atMs: snapshot.atMs,
    runtime: { ...snapshot, limits: throttled.limits },
    throttled: throttled.pairs,
    throttledTotal: limits.length,
    hottest,
    history: history.records(),
    events: events.since(0),
    stores: Object.entries(stores).map(([name, store]) => ({ name, ...store.stats() })),
  };
}

function checkStores(stores: unknown): asserts stores is NonNullable<StateOptions['stores']> {
  if (typeof stores !== 'object' || stores === null)
    throw new TypeError(`stores must be an object of stores by name, got ${describeValue(stores)}`);
  for (const [name, store] of Object.entries(stores)) {
    if (typeof (store as { stats?: unknown } | null | undefined)?.stats !== 'function')
      throw new TypeError(`stores.${name} must be a key-value store, got ${describeValue(store)}`);
  }
}
