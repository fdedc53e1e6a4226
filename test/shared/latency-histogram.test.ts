import { describe, expect, it } from 'vitest';
import { HISTOGRAM_BUCKETS, upperNs } from '../../src/shared/histogram-buckets.js';
import {
  EMPTY_HISTOGRAM,
  mergeHistograms,
  quantileNs,
} from '../../src/shared/histogram-snapshot.js';
import { histogramBytes, LatencyHistogram } from '../../src/shared/latency-histogram.js';

const create = (): LatencyHistogram =>
  new LatencyHistogram(new SharedArrayBuffer(histogramBytes()), 0);

describe('LatencyHistogram', () => {
  it('is empty at first', () => {
    expect(create().snapshot()).toEqual(EMPTY_HISTOGRAM);
    expect(quantileNs(EMPTY_HISTOGRAM, 0.5)).toBeNaN();
  });

  it('counts durations into buckets that include their upper bound', () => {
    const histogram = create();
    for (const ns of [0, 1, 1024, 1024.5, 1152, 1153]) histogram.record(ns);
    expect(histogram.snapshot()).toEqual({
      count: 6,
      sumNs: 0 + 1 + 1024 + 1025 + 1152 + 1153,
      buckets: [
        { upperNs: 1024, count: 3 },
        { upperNs: 1152, count: 2 },
        { upperNs: 1280, count: 1 },
      ],
    });
  });

  it('reaches past 1000 s and counts what is longer in a last bucket', () => {
    const histogram = create();
    expect(upperNs(HISTOGRAM_BUCKETS - 2)).toBe(2 ** 40);
    for (const ns of [1000e9, 2 ** 40, 2 ** 40 + 1, 1e18, Number.MAX_VALUE]) histogram.record(ns);
    const { buckets, sumNs } = histogram.snapshot();
    expect(buckets.map(({ count }) => count)).toEqual([1, 1, 3]);
    expect(buckets.at(-1)?.upperNs).toBe(Number.POSITIVE_INFINITY);
    expect(sumNs).toBeGreaterThan(2 * Number.MAX_SAFE_INTEGER);
  });

  it('does not wrap past 2^32 of a kind', () => {
    const buffer = new SharedArrayBuffer(histogramBytes());
    new BigUint64Array(buffer)[1] = 2n ** 32n - 1n;
    const histogram = new LatencyHistogram(buffer, 0);
    histogram.record(10);
    expect(histogram.snapshot().count).toBe(2 ** 32);
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5' as never])('refuses %s ns', (ns) => {
    const histogram = create();
    if (typeof ns === 'number') {
      expect(() => histogram.record(ns)).toThrow(
        new RangeError(`ns must be a finite number >= 0, got ${ns}`),
      );
      expect(histogram.snapshot()).toEqual(EMPTY_HISTOGRAM);
    }
  });

  it('gives quantiles', () => {
    const histogram = create();
    for (let ms = 1; ms <= 1000; ms++) histogram.record(ms * 1e6);
    const snapshot = histogram.snapshot();
    for (const q of [0.01, 0.5, 0.9, 0.99, 1]) {
      expect(quantileNs(snapshot, q) / (q * 1000e6)).toBeGreaterThan(0.94);
      expect(quantileNs(snapshot, q) / (q * 1000e6)).toBeLessThan(1.06);
    }
    expect(quantileNs(snapshot, 0) / 1e6).toBeCloseTo(1, 0);
    expect(() => quantileNs(snapshot, 1.1)).toThrow(
      new RangeError('q must be a number from 0 to 1, got 1.1'),
    );
    expect(() => quantileNs(snapshot, Number.NaN)).toThrow(RangeError);
  });

  it('adds up', () => {
    const [one, other] = [create(), create()];
    one.record(5);
    one.record(1e12);
    other.record(5);
    other.record(1e6);
    const merged = mergeHistograms([other.snapshot(), one.snapshot(), EMPTY_HISTOGRAM]);
    expect(merged.count).toBe(4);
    expect(merged.sumNs).toBe(1e12 + 1e6 + 10);
    expect(merged.buckets.map(({ count }) => count)).toEqual([2, 1, 1]);
    expect(mergeHistograms([])).toEqual(EMPTY_HISTOGRAM);
  });
});
