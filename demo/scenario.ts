import type { LoadPhase } from './load/arrivals.js';
import { zipfShares } from './load/zipf.js';
import type { DemoOptions } from './options.js';

/** RPC types of the load, half of the calls each; both are load-related ones of the preset. */
export const rpcNames = ['prepare_rowset', 'commit_rowset'] as const;
export type RpcName = (typeof rpcNames)[number];

export interface RetryPolicy {
  readonly attempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

/** Everything that both runs share; a plain object, so that it crosses threads and processes. */
export interface Scenario {
  readonly seed: number;
  readonly threads: number;
  readonly durationMs: number;
  readonly floodFromMs: number;
  readonly floodToMs: number;
  /** Table ids, hottest first; the first `hotTables` of them flood. */
  readonly tableIds: readonly string[];
  readonly hotTables: number;
  readonly phases: readonly LoadPhase[];
  readonly capacityPerSecond: number;
  readonly retry: RetryPolicy;
  /** Calls in flight per thread, waits and backoffs included; an arrival past it is shed and failed. */
  readonly maxInFlightPerThread: number;
  readonly attemptTimeoutMs: number;
  /** A call that would wait longer for its limit is refused by the gate. */
  readonly maxWaitMs: number;
  /** Calls that may wait for one limit in one thread; the gate refuses more. */
  readonly maxWaiters: number;
  /** Between upgrades, and between downgrades. */
  readonly intervalMs: number;
  /** Over which the QPS of a table is measured; as long as the intervals, as it is by default. */
  readonly windowMs: number;
}

/**
 * 300 RPC/s keep two cores from being the bottleneck even while the retries of the run without
 * Spillway make eight times as many: what is measured is the service's capacity, not the machine.
 */
const capacityPerSecond = 300;
/** The calm load, all tables together, as a part of the capacity. */
const calmLoad = 0.6;
/** What the two hot tables offer together while they flood, as a part of the capacity. */
const floodLoad = 1;

/** A few samples of the QPS registry, which takes one every 100 ms. */
const minWindowMs = 300;

export function createScenario(options: DemoOptions): Scenario {
  const intervalMs = options.seconds * 25;
  const durationMs = (options.seconds * 1000) / 2;
  const floodFromMs = durationMs / 4;
  const floodToMs = (durationMs * 3) / 4;
  const hotTables = 2;
  const calm = zipfShares(options.tables).map((share) => share * calmLoad * capacityPerSecond);
  const flood = calm.map((rate, index) =>
    index < hotTables ? (floodLoad * capacityPerSecond) / hotTables : rate,
  );
  return Object.freeze({
    seed: 20_260_101,
    threads: options.threads,
    durationMs,
    floodFromMs,
    floodToMs,
    tableIds: Array.from({ length: options.tables }, (_, index) => String(10_001 + index)),
    hotTables,
    phases: [
      { untilMs: floodFromMs, ratesPerSecond: calm },
      { untilMs: floodToMs, ratesPerSecond: flood },
      { untilMs: durationMs, ratesPerSecond: calm },
    ],
    capacityPerSecond,
    retry: { attempts: 5, baseDelayMs: 50, maxDelayMs: 1000 },
    maxInFlightPerThread: 1024,
    attemptTimeoutMs: 5000,
    maxWaitMs: intervalMs / 2,
    maxWaiters: 256,
    intervalMs,
    windowMs: Math.max(minWindowMs, intervalMs),
  });
}
