import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BYTES } from './fast-shared-bucket.mjs';

/** The burst is what no row uses up, the rate what a word holds. */
const QUOTA = { perSecond: 1e7, burst: 2 ** 31 - 1 };

/** @returns {Promise<{ buffer: SharedArrayBuffer, stop: () => Promise<unknown> }>} */
export async function startFastBucket() {
  const buffer = new SharedArrayBuffer(BYTES);
  const worker = new Worker(new URL('./refill-worker.mjs', import.meta.url), {
    workerData: { buffer, quota: QUOTA },
  });
  await once(worker, 'message');
  return { buffer, stop: () => worker.terminate() };
}
