// Times an operation on two threads at once: both warm up, start together, and stop when told.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const THREADS = 2;
const WARM_MS = 200;
const TIMED_MS = 500;
const ENTRY = new URL('./contend-worker.mjs', import.meta.url);

/** Words of the shared control block. */
export const READY = 0;
export const GO = 1;
export const STOP = 2;

/**
 * What a worker measured. Times are ns of `hrtime`, which all threads share, from when the process began.
 * @typedef {{ ops: number, all: number, start: number, end: number }} Contender
 */

/**
 * @param {string} module URL of a module that exports `contender(data)`, which gives a `run(n)` as of `timeLoop`
 * @param {unknown} data given to it, in each thread
 * @returns {Promise<{ sample: import('./sampling.mjs').Sample, all: number }>} `all` counts the warm-up too
 */
export async function contend(module, data) {
  const control = new Int32Array(new SharedArrayBuffer(12));
  const workers = Array.from(
    { length: THREADS },
    () => new Worker(ENTRY, { workerData: { module, data, control, warmMs: WARM_MS } }),
  );
  const results = Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  results.catch(() => {});
  while (Atomics.load(control, READY) < THREADS) await pause(1);
  const before = process.cpuUsage();
  Atomics.store(control, GO, 1);
  await pause(TIMED_MS);
  Atomics.store(control, STOP, 1);
  const { user, system } = process.cpuUsage(before);
  /** @type {Contender[]} */
  const contenders = await results;
  await Promise.all(workers.map((worker) => worker.terminate()));
  const starts = contenders.map(({ start }) => start);
  const ends = contenders.map(({ end }) => end);
  const elapsedNs = Math.max(...ends) - Math.min(...starts);
  const together = Math.min(...ends) - Math.max(...starts);
  if (together < 0.9 * elapsedNs) throw new Error('the threads did not run together');
  const sum = (/** @type {'ops' | 'all'} */ key) =>
    contenders.reduce((total, contender) => total + contender[key], 0);
  const ops = sum('ops');
  const cores = ((user + system) * 1000) / elapsedNs;
  return { sample: { threads: THREADS, ops, nsPerOp: elapsedNs / ops, cores }, all: sum('all') };
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
