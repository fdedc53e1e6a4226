import type { KvDemoOptions } from './kv-options.js';

/** Everything that both runs share; a plain object, so that it crosses threads. */
export interface KvScenario {
  readonly seed: number;
  readonly table: string;
  readonly threads: number;
  readonly buckets: number;
  /** The first of them are flooded. */
  readonly hotBuckets: number;
  /** Of the load of one run. */
  readonly durationMs: number;
  /** Of a hot bucket, all threads together. */
  readonly hotBytesPerSecond: number;
  readonly hotValueBytes: number;
  /** Keys of a hot bucket that a thread draws from. */
  readonly hotKeys: number;
  /** Not yet acknowledged records that a thread keeps of a hot bucket; what arrives past it is shed. */
  readonly hotInFlight: number;
  /** Between two puts of a thread into the same calm bucket. */
  readonly calmEveryMs: number;
  readonly calmValueBytes: number;
  readonly calmKeys: number;
  readonly client: {
    readonly batchBytes: number;
    readonly lingerMs: number;
    readonly maxThrottleMs: number;
    readonly deliveryTimeoutMs: number;
  };
  /** What a hot bucket's store holds before the load begins: it makes its compactions heavy. */
  readonly prefillBytes: number;
  readonly server: {
    readonly writeBufferBytes: number;
    readonly maxWriteBuffers: number;
    readonly maxBackgroundJobs: number;
    readonly l0SlowdownTrigger: number;
    readonly maxPendingBytes: number;
  };
}

/** RocksDB's: from here on it slows every writer down. */
export const engineTrigger = 20;

const MB = 1e6;

export function createKvScenario({ seconds }: KvDemoOptions): KvScenario {
  const durationMs = (seconds * 1000) / 2;
  return Object.freeze({
    seed: 20_260_102,
    table: 'rows',
    threads: 4,
    buckets: 8,
    hotBuckets: 2,
    durationMs,
    // More than the store takes without falling behind, less than it takes from writers that it may slow.
    hotBytesPerSecond: 4 * MB,
    hotValueBytes: 4096,
    hotKeys: 2 ** 20,
    hotInFlight: 2560,
    calmEveryMs: 100,
    calmValueBytes: 100,
    calmKeys: 200,
    client: {
      // Small: a calm bucket's batch waits for what is being sent before it on the same connection.
      batchBytes: 64 * 1024,
      lingerMs: 1,
      maxThrottleMs: 200,
      deliveryTimeoutMs: 60_000,
    },
    // A store for a load of a second or two would take longer to fill than the load to run.
    prefillBytes: Math.min(200 * MB, durationMs * 20_000),
    server: {
      // The smallest: files of level 0 come fast.
      writeBufferBytes: 64 * 1024,
      maxWriteBuffers: 6,
      maxBackgroundJobs: 1,
      l0SlowdownTrigger: 8,
      maxPendingBytes: 16 * 1024 * 1024,
    },
  });
}

export function isHot({ hotBuckets }: KvScenario, bucket: number): boolean {
  return bucket < hotBuckets;
}

/** Puts that one of the threads has for a bucket in the first `nowMs` of the load. */
export function duePuts(
  scenario: KvScenario,
  threadIndex: number,
  bucket: number,
  nowMs: number,
): number {
  const { threads, buckets, calmEveryMs } = scenario;
  // Not all of them at the same moment.
  const phase = (threadIndex * buckets + bucket) / (threads * buckets);
  if (!isHot(scenario, bucket)) return Math.floor(nowMs / calmEveryMs + phase);
  const perMs = scenario.hotBytesPerSecond / scenario.hotValueBytes / threads / 1000;
  return Math.floor(nowMs * perMs + phase);
}
