/**
 * A histogram of durations in the arena, to which any thread adds. Every counter is a u64 and so never wraps (a u32 would
 * in 72 minutes at a million a second); 1,944 bytes, where u32 counters would take half of that. A thread killed inside
 * `record` has counted its duration without adding it to the sum, at worst.
 */
import type { ArenaAtomics } from './arena-atomics.js';
import { bucketOf, HISTOGRAM_BUCKETS, upperNs } from './histogram-buckets.js';
import type { HistogramSnapshot, HistogramSnapshotBucket } from './histogram-snapshot.js';

/** Arena bytes of one histogram. All zero is an empty one. */
export const histogramBytes = (): number => (1 + HISTOGRAM_BUCKETS) * 8;

/** u64 index of the sum in ns; the buckets' counts follow it. */
const SUM = 0;
const COUNTS = 1;

export class LatencyHistogram {
  readonly #atomics: ArenaAtomics;
  readonly #words: BigUint64Array;

  /** `base`: byte offset of `histogramBytes()` bytes, a multiple of 8. */
  constructor(buffer: SharedArrayBuffer, base: number, atomics: ArenaAtomics = Atomics) {
    this.#atomics = atomics;
    this.#words = new BigUint64Array(buffer, base, histogramBytes() / 8);
  }

  /** @throws RangeError unless `ns` is a finite number >= 0: a NaN would spoil the sum for good. */
  record(ns: number): void {
    if (!(ns >= 0 && ns < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`ns must be a finite number >= 0, got ${ns}`);
    }
    this.#atomics.add(this.#words, COUNTS + bucketOf(ns), 1n);
    // The bound (104 days) keeps one absurd value from wrapping the sum.
    this.#atomics.add(this.#words, SUM, BigInt(Math.min(Math.round(ns), Number.MAX_SAFE_INTEGER)));
  }

  snapshot(): HistogramSnapshot {
    const buckets: HistogramSnapshotBucket[] = [];
    let count = 0;
    for (let bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
      const n = Number(this.#atomics.load(this.#words, COUNTS + bucket));
      if (n === 0) continue;
      count += n;
      buckets.push({ upperNs: upperNs(bucket), count: n });
    }
    return { count, sumNs: Number(this.#atomics.load(this.#words, SUM)), buckets };
  }
}
