import type { HistogramBucket } from '../../workers/snapshot.js';

/**
 * Upper bounds in s: 1, 2.5 and 5 of every decade from 100 us to 500 s. The arena's buckets are at most 1/8 wide, so a wait is
 * counted under a bound that it exceeds by an eighth at most.
 */
export const WAIT_BOUNDS_SECONDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  25, 50, 100, 250, 500,
];

export interface CumulativeBucket {
  /** Upper bound in s. */
  readonly le: number | '+Inf';
  /** Waits up to the bound. */
  readonly count: number;
}

/**
 * The arena's fine buckets under Prometheus' bounds. A fine bucket that spans a bound counts above it: what is said to be
 * below a bound is.
 */
export function cumulativeBuckets(
  buckets: readonly HistogramBucket[],
  total: number,
): CumulativeBucket[] {
  let next = 0;
  let count = 0;
  const cumulative: CumulativeBucket[] = WAIT_BOUNDS_SECONDS.map((le) => {
    for (let b = buckets[next]; b !== undefined && b.upperNs <= le * 1e9; b = buckets[next]) {
      count += b.count;
      next += 1;
    }
    return { le, count };
  });
  cumulative.push({ le: '+Inf', count: total });
  return cumulative;
}
