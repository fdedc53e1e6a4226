/**
 * A count over the last so many ms, in a ring of buckets. Pure: `nowMs` is an argument; a step back counts as no time.
 * Each bucket remembers which period it counts, so that after any idle time nothing old is left in it (a window that
 * only shifts by one bucket per call keeps old counts after an idle hour).
 */
export class RollingCount {
  readonly #bucketMs: number;
  readonly #counts: Float64Array;
  /** The period that a bucket counts: `floor(time / bucketMs)`; -1: none. */
  readonly #periods: Float64Array;
  #nowMs = 0;

  /** Both at least 1, `buckets` an integer. The window is exact to one bucket: it ends with the running one. */
  constructor({ windowMs, buckets }: { readonly windowMs: number; readonly buckets: number }) {
    if (!(windowMs >= 1 && Number.isFinite(windowMs))) {
      throw new RangeError(`windowMs must be a finite number >= 1, got ${String(windowMs)}`);
    }
    if (!Number.isInteger(buckets) || buckets < 1 || buckets > 100_000) {
      throw new RangeError(`buckets must be an integer from 1 to 100000, got ${String(buckets)}`);
    }
    this.#bucketMs = windowMs / buckets;
    this.#counts = new Float64Array(buckets);
    this.#periods = new Float64Array(buckets).fill(-1);
  }

  /** Counts `n`, an integer >= 0: a NaN would poison the sum for good. */
  add(n: number, nowMs: number): void {
    if (!Number.isSafeInteger(n) || n < 0) {
      throw new RangeError(`n must be an integer >= 0, got ${String(n)}`);
    }
    const period = this.#periodAt(nowMs);
    const bucket = period % this.#counts.length;
    const before = this.#periods[bucket] === period ? (this.#counts[bucket] as number) : 0;
    this.#periods[bucket] = period;
    this.#counts[bucket] = before + n;
  }

  total(nowMs: number): number {
    const oldest = this.#periodAt(nowMs) - this.#counts.length + 1;
    let total = 0;
    for (let i = 0; i < this.#counts.length; i += 1) {
      if ((this.#periods[i] as number) >= oldest) total += this.#counts[i] as number;
    }
    return total;
  }

  #periodAt(nowMs: number): number {
    if (nowMs > this.#nowMs && Number.isFinite(nowMs)) this.#nowMs = nowMs;
    return Math.floor(this.#nowMs / this.#bucketMs);
  }
}
