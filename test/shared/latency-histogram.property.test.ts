import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bucketOf,
  HISTOGRAM_BUCKETS,
  representativeNs,
  upperNs,
} from '../../src/shared/histogram-buckets.js';
import { mergeHistograms, quantileNs } from '../../src/shared/histogram-snapshot.js';
import { histogramBytes, LatencyHistogram } from '../../src/shared/latency-histogram.js';

/** Spread over the octaves, not over the numbers. */
const between = (first: number, last: number): fc.Arbitrary<number> =>
  fc
    .integer({ min: Math.round(first * 1000), max: Math.round(last * 1000) })
    .map((milliOctaves) => 2 ** (milliOctaves / 1000))
    .chain((ns) => fc.constantFrom(ns, Math.round(ns)));
const duration = between(0, 41);
const measured = between(10.01, 39.8);

const recorded = (durations: readonly number[]): LatencyHistogram => {
  const histogram = new LatencyHistogram(new SharedArrayBuffer(histogramBytes()), 0);
  for (const ns of durations) histogram.record(ns);
  return histogram;
};

describe('histogram buckets', () => {
  it('hold every duration between their bounds', () => {
    fc.assert(
      fc.property(duration, (ns) => {
        const bucket = bucketOf(ns);
        expect(ns).toBeLessThanOrEqual(upperNs(bucket));
        if (bucket > 0) expect(ns).toBeGreaterThan(upperNs(bucket - 1));
      }),
    );
  });

  it('have their upper bound, and grow', () => {
    for (let bucket = 0; bucket < HISTOGRAM_BUCKETS - 1; bucket++) {
      expect(bucketOf(upperNs(bucket))).toBe(bucket);
      expect(bucketOf(upperNs(bucket) + 0.25)).toBe(bucket + 1);
      expect(upperNs(bucket + 1)).toBeGreaterThan(upperNs(bucket));
    }
  });

  it('are represented within 6 % from 1 us to 1000 s', () => {
    fc.assert(
      fc.property(measured, (ns) => {
        expect(Math.abs(representativeNs(bucketOf(ns)) / ns - 1)).toBeLessThan(0.06);
      }),
    );
  });
});

describe('LatencyHistogram', () => {
  it('gives the quantiles of the sorted durations within 6 %', () => {
    const durations = fc.array(measured, { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), (all, q) => {
        const sorted = all.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(q * all.length)) - 1] as number;
        const estimate = quantileNs(recorded(all).snapshot(), q);
        expect(Math.abs(estimate / exact - 1)).toBeLessThan(0.06);
      }),
    );
  });

  it('merges to what one histogram of everything holds', () => {
    fc.assert(
      fc.property(fc.array(fc.array(duration)), (parts) => {
        const merged = mergeHistograms(parts.map((part) => recorded(part).snapshot()));
        const whole = recorded(parts.flat()).snapshot();
        expect(merged.buckets).toEqual(whole.buckets);
        expect(merged.count).toBe(whole.count);
        expect(merged.sumNs).toBe(whole.sumNs);
      }),
    );
  });
});
