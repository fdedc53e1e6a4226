// Times an asynchronous operation on this thread, one after the other.
import { setImmediate as turn } from 'node:timers/promises';
import { median } from './statistics.mjs';

const WARM_MS = 300;
const TIMED_MS = 600;
/** Short enough that most are not interrupted, long enough for the clock. */
const CHUNK_MS = 2;

/**
 * The median of many short stretches: one that was interrupted does not count.
 * @param {(n: number) => Promise<number>} run does the operation `n` times in a row, says how often it came out as expected
 * @returns {Promise<import('./sampling.mjs').Sample & { all: number }>} `all` counts the warm-up too
 */
export async function timeAsyncLoop(run) {
  let all = 0;
  let n = 100;
  const chunk = async () => {
    const start = performance.now();
    const right = await run(n);
    const ms = performance.now() - start;
    if (right !== n) throw new Error(`${n - right} of ${n} operations came out wrong`);
    all += n;
    await turn();
    return ms;
  };
  for (let elapsed = 0; elapsed < WARM_MS; ) {
    const ms = await chunk();
    elapsed += ms;
    if (ms < CHUNK_MS) n *= 2;
  }
  const chunks = [];
  for (let elapsed = 0; elapsed < TIMED_MS; ) {
    const ms = await chunk();
    chunks.push(ms);
    elapsed += ms;
  }
  return { threads: 1, ops: n * chunks.length, nsPerOp: (median(chunks) / n) * 1e6, all };
}
