// The kernel's decision in plain JavaScript, as fast as that gets: GCRA in one Int32, time in emission intervals, the clock
// a word that another thread moves. It reads with plain loads, which is sound for one aligned word that a compare-and-swap
// checks afterwards, and twice as fast as `Atomics.load`. Differences survive the wrap of the words. What it gives up for the
// 32 bits: config epochs, weights, statistics, and rests longer than 2^31 intervals.

/** Words, a cache line apart. */
const ARRIVAL = 0;
const CLOCK = 16;
export const BYTES = 128;

export class GcraSharedBucket {
  #words;
  #burst;

  /** @param {SharedArrayBuffer} buffer of `BYTES` @param {number} burst below 2^30 */
  constructor(buffer, burst) {
    this.#words = new Int32Array(buffer);
    this.#burst = burst;
  }

  tryAcquire() {
    const words = this.#words;
    for (;;) {
      const now = /** @type {number} */ (words[CLOCK]);
      const arrival = /** @type {number} */ (words[ARRIVAL]);
      const debt = (arrival - now) | 0;
      const next = debt > 0 ? debt + 1 : 1;
      if (next > this.#burst) return false;
      const swapped = Atomics.compareExchange(words, ARRIVAL, arrival, (now + next) | 0);
      if (swapped === arrival) return true;
    }
  }
}

/** Moves the clock. One thread only.
 * @param {SharedArrayBuffer} buffer
 * @param {number} perSecond
 * @returns {() => void} stops it
 */
export function tick(buffer, perSecond) {
  const words = new Int32Array(buffer);
  const start = performance.now();
  const timer = setInterval(() => {
    const elapsed = Math.floor(((performance.now() - start) / 1000) * perSecond);
    Atomics.store(words, CLOCK, elapsed | 0);
  }, 1);
  return () => clearInterval(timer);
}
