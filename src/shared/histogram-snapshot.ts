/** What a histogram held at one moment, as plain data: it can be cloned, added up and asked for quantiles. */
import { bucketOf, representativeNs } from './histogram-buckets.js';

export interface HistogramSnapshotBucket {
  /** The longest duration counted here, Infinity in the last bucket. */
  readonly upperNs: number;
  /** Durations in this bucket alone. */
  readonly count: number;
}

export interface HistogramSnapshot {
  /** Always the sum of the buckets' counts. */
  readonly count: number;
  readonly sumNs: number;
  /** The buckets that are not empty, shortest first. */
  readonly buckets: readonly HistogramSnapshotBucket[];
}

export const EMPTY_HISTOGRAM: HistogramSnapshot = Object.freeze({
  count: 0,
  sumNs: 0,
  buckets: Object.freeze([]),
});

/**
 * The duration that a share `q` (0 to 1) of the recorded ones does not exceed, within 6 %; NaN when nothing was recorded.
 * @throws RangeError for a `q` outside 0 to 1.
 */
export function quantileNs(histogram: HistogramSnapshot, q: number): number {
  if (!(q >= 0 && q <= 1)) throw new RangeError(`q must be a number from 0 to 1, got ${q}`);
  let left = Math.max(1, Math.ceil(q * histogram.count));
  for (const { upperNs, count } of histogram.buckets) {
    left -= count;
    if (left <= 0) return representativeNs(bucketOf(upperNs));
  }
  return Number.NaN;
}

/** All durations of several histograms. */
export function mergeHistograms(histograms: Iterable<HistogramSnapshot>): HistogramSnapshot {
  const counts = new Map<number, number>();
  let count = 0;
  let sumNs = 0;
  for (const histogram of histograms) {
    count += histogram.count;
    sumNs += histogram.sumNs;
    for (const bucket of histogram.buckets) {
      counts.set(bucket.upperNs, (counts.get(bucket.upperNs) ?? 0) + bucket.count);
    }
  }
  const buckets = [...counts]
    .map(([upperNs, n]) => ({ upperNs, count: n }))
    .sort((a, b) => (a.upperNs < b.upperNs ? -1 : 1));
  return { count, sumNs, buckets };
}
