import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RollingCount } from '../../../src/actors/metrics/rolling-count.js';

const HOUR_MS = 3_600_000;

const gap = fc.oneof(
  fc.integer({ min: 0, max: 3000 }),
  fc.integer({ min: 0, max: 120_000 }),
  fc.integer({ min: HOUR_MS, max: 30 * 24 * HOUR_MS }),
);

describe('a rolling count', () => {
  it('agrees with a list of everything counted, after any idle time', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(gap, fc.nat(100)), { maxLength: 80 }), (steps) => {
        const rolling = new RollingCount({ windowMs: 60_000, buckets: 60 });
        const counted: { second: number; n: number }[] = [];
        let nowMs = 0;
        for (const [gapMs, n] of steps) {
          nowMs += gapMs;
          const second = Math.floor(nowMs / 1000);
          rolling.add(n, nowMs);
          counted.push({ second, n });
          const recent = counted.filter((one) => one.second > second - 60);
          expect(rolling.total(nowMs)).toBe(recent.reduce((sum, one) => sum + one.n, 0));
        }
      }),
    );
  });

  it('holds nothing old after an idle hour, though nobody looked meanwhile', () => {
    const rolling = new RollingCount({ windowMs: 60_000, buckets: 60 });
    for (let second = 0; second < 60; second += 1) rolling.add(10, second * 1000);
    expect(rolling.total(59_999)).toBe(600);
    rolling.add(1, HOUR_MS);
    expect(rolling.total(HOUR_MS)).toBe(1);
  });

  it('takes a clock that steps back as standing still', () => {
    const rolling = new RollingCount({ windowMs: 60_000, buckets: 60 });
    rolling.add(5, 100_000);
    rolling.add(2, 89_000);
    expect(rolling.total(89_000)).toBe(7);
    expect(rolling.total(Number.NaN)).toBe(7);
  });

  it.each([Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, '5'])('refuses to count %s', (n) => {
    const rolling = new RollingCount({ windowMs: 60_000, buckets: 60 });
    expect(() => rolling.add(n as number, 0)).toThrow(`n must be an integer >= 0, got ${n}`);
    expect(rolling.total(0)).toBe(0);
  });

  it.each([
    [{ windowMs: Number.NaN, buckets: 60 }],
    [{ windowMs: 0, buckets: 60 }],
    [{ windowMs: 60_000, buckets: 0 }],
    [{ windowMs: 60_000, buckets: 1.5 }],
  ])('refuses %o', (options) => {
    expect(() => new RollingCount(options)).toThrow(RangeError);
  });
});
