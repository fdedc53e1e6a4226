// Times a synchronous operation on this thread.
import { setImmediate as turn } from 'node:timers/promises';
import { median } from './statistics.mjs';

const WARM_MS = 150;
const TIMED_MS = 400;
/** Short enough that most are not interrupted, long enough for the clock. */
const CHUNK_MS = 1;

/**
 * The median of many short stretches: one that was interrupted does not count.
 * @param {(n: number) => number} run does the operation `n` times, says how often it came out as expected
 * @returns {Promise<import('./sampling.mjs').Sample>}
 */
export async function timeLoop(run) {
  let n = 1000;
  for (let elapsed = 0; elapsed < WARM_MS; ) {
    const ms = timed(run, n);
    elapsed += ms;
    if (ms < CHUNK_MS) n *= 2;
    await turn();
  }
  const chunks = [];
  for (let elapsed = 0; elapsed < TIMED_MS; ) {
    const ms = timed(run, n);
    chunks.push(ms);
    elapsed += ms;
    if (chunks.length % 16 === 0) await turn();
  }
  return { threads: 1, ops: n * chunks.length, nsPerOp: (median(chunks) / n) * 1e6 };
}

/** @param {(n: number) => number} run @param {number} n */
function timed(run, n) {
  const start = performance.now();
  const right = run(n);
  const ms = performance.now() - start;
  if (right !== n) throw new Error(`${n - right} of ${n} operations came out wrong`);
  return ms;
}
