// Times an operation on two threads at once: both warm up first, then their progress is read in short slices. Only slices in
// which they had a core each count: what took turns on one core did not contend.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { median } from './statistics.mjs';

const THREADS = 2;
const WARM_MS = 200;
const SLICE_MS = 20;
const WANTED_SLICES = 20;
const LONGEST_MS = 4000;
/** Of the cores that they could have had. */
const TOGETHER = 0.9;
const ENTRY = new URL('./contend-worker.mjs', import.meta.url);

/** Words of the shared control block. */
export const READY = 0;
export const STOP = 1;

/**
 * @param {string} module URL of a module that exports `contender(data)`, which gives a `run(n)` as of `timeLoop`
 * @param {unknown} data given to it, in each thread
 * @returns {Promise<{ sample: import('./sampling.mjs').Sample, all: number }>} `all` counts the warm-up too
 */
export async function contend(module, data) {
  const control = new Int32Array(new SharedArrayBuffer(8));
  const progress = Array.from(
    { length: THREADS },
    () => new Float64Array(new SharedArrayBuffer(64)),
  );
  const workers = progress.map(
    (done) => new Worker(ENTRY, { workerData: { module, data, control, done, warmMs: WARM_MS } }),
  );
  const ended = Promise.all(workers.map((worker) => once(worker, 'exit')));
  ended.catch(() => {});
  while (Atomics.load(control, READY) < THREADS) await Promise.race([pause(1), ended]);
  const total = () => progress.reduce((sum, [ops = 0]) => sum + ops, 0);
  const slices = [];
  const start = performance.now();
  let before = look(total());
  while (performance.now() - start < LONGEST_MS && together(slices).length < WANTED_SLICES) {
    await Promise.race([pause(SLICE_MS), ended]);
    const after = look(total());
    slices.push(difference(before, after));
    before = after;
  }
  Atomics.store(control, STOP, 1);
  await ended;
  const shared = together(slices);
  const counted = shared.length > 0 ? shared : slices;
  const ops = counted.reduce((sum, slice) => sum + slice.ops, 0);
  const nsPerOp = median(counted.map((slice) => slice.ns / slice.ops));
  const cores = median(counted.map((slice) => slice.cores));
  return { sample: { threads: THREADS, ops, nsPerOp, cores }, all: total() };
}

/** @param {number} ops */
function look(ops) {
  const { user, system } = process.cpuUsage();
  return { ops, ns: performance.now() * 1e6, cpuNs: (user + system) * 1000 };
}

/** @param {ReturnType<typeof look>} before @param {ReturnType<typeof look>} after */
function difference(before, after) {
  const ns = after.ns - before.ns;
  return { ops: after.ops - before.ops, ns, cores: (after.cpuNs - before.cpuNs) / ns };
}

/** @param {ReturnType<typeof difference>[]} slices */
function together(slices) {
  return slices.filter(({ cores }) => cores >= TOGETHER * THREADS);
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
