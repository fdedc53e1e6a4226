// A thread that uses one key directory as hard as it can, until word 0 of `control` says stop or it is terminated. Word 1
// is the key that all threads go for at the same time, word 2 counts the compare-and-swaps that were lost to another thread,
// word 3 is never notified.
import { parentPort, workerData } from 'node:worker_threads';
import { KeyDirectory } from '../../../dist/shared/key-directory.js';
import { QuiescenceWords } from '../../../dist/shared/quiescence.js';

const {
  buffer,
  base,
  capacity,
  quiescenceBase,
  threads,
  thread,
  keys,
  holds,
  naps,
  control,
  seed,
} = workerData;

/** Byte offset in a cell, where the limiter would be: i32, threads that want it kept. */
const HOLD = 16;

const words = new Int32Array(control);
let state = seed;
const random = (/** @type {number} */ below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state >>> 8) % below;
};

/** @type {(target: any, index: number, expected: any, next: any) => any} */
const swap = (target, index, expected, next) => {
  // Now and then off the core with what was read, as a thread that is descheduled right here.
  if (naps && random(32) === 0) Atomics.wait(words, 3, 0, 0.02);
  const seen = Atomics.compareExchange(target, index, expected, next);
  if (seen !== expected) Atomics.add(words, 2, 1);
  return seen;
};

const { load, store, add, or, and, exchange } = Atomics;
const counting = { load, store, add, or, and, exchange, compareExchange: swap };

const directory = new KeyDirectory(buffer, base, capacity, counting);
const quiescence = new QuiescenceWords(buffer, quiescenceBase, threads);
const counts = new BigUint64Array(buffer);
const held = new Int32Array(buffer);

const result = { added: 0, full: 0, moved: 0, wrong: 0 };

/**
 * One operation: find or make the cell, see that it has the right key, count a call in it.
 * @param {number} key
 */
function use(key) {
  for (;;) {
    const cell = directory.findOrInsert(key % 3, `k${key}`);
    if (cell === 0) {
      result.full++;
      return;
    }
    // Dead by now or not, until the next quiescent point it is nobody else's.
    const found = directory.describe(cell);
    if (found.key !== `k${key}` || found.space !== key % 3) result.wrong++;
    if (!holds) return;
    // Takes effect, and only then looks whether the cell is still live.
    const hold = (cell + HOLD) / 4;
    Atomics.add(held, hold, 1);
    const isLive = directory.isLive(cell);
    if (isLive) Atomics.add(counts, cell / 8, 1n);
    Atomics.sub(held, hold, 1);
    if (isLive) {
      result.added++;
      return;
    }
    result.moved++;
  }
}

quiescence.pass(thread);
parentPort?.postMessage('ready');
while (Atomics.load(words, 0) === 0) {
  for (let i = 0; i < 20; i++) {
    const together = Atomics.load(words, 1);
    use(together % keys);
    Atomics.compareExchange(words, 1, together, together + 1);
    use(random(keys));
  }
  quiescence.pass(thread);
}
quiescence.leave(thread);
parentPort?.postMessage(result);
