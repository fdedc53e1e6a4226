import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BYTES as COUNTER_BYTES, CounterSharedBucket } from './counter-shared-bucket.mjs';
import { BYTES as GCRA_BYTES, GcraSharedBucket } from './gcra-shared-bucket.mjs';

/** @typedef {{ kind: 'counter' | 'gcra', buffer: SharedArrayBuffer }} SharedBucket */

/** What no row uses up. */
const BURST = { counter: 2 ** 31 - 1, gcra: 2 ** 30 - 1 };
const PER_SECOND = 1e7;

/**
 * @param {SharedBucket['kind']} kind
 * @returns {Promise<SharedBucket & { stop: () => Promise<unknown> }>}
 */
export async function startSharedBucket(kind) {
  const buffer = new SharedArrayBuffer(kind === 'counter' ? COUNTER_BYTES : GCRA_BYTES);
  const worker = new Worker(new URL('./upkeep-worker.mjs', import.meta.url), {
    workerData: { kind, buffer, perSecond: PER_SECOND, burst: BURST[kind] },
  });
  await once(worker, 'message');
  return { kind, buffer, stop: () => worker.terminate() };
}

/** `n` attempts; how many were granted.
 * @param {SharedBucket} bucket
 * @returns {(n: number) => number}
 */
export function contender({ kind, buffer }) {
  const bucket =
    kind === 'counter' ? new CounterSharedBucket(buffer) : new GcraSharedBucket(buffer, BURST.gcra);
  return (n) => {
    let granted = 0;
    for (let i = 0; i < n; i += 1) if (bucket.tryAcquire()) granted += 1;
    return granted;
  };
}
