import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ThrottleWindows,
  throttleWindowMs,
} from '../../../src/shared/pressure/throttle-windows.js';

describe('throttle windows', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('refuses maxThrottleMs %s', (bad) => {
    expect(() => new ThrottleWindows(bad)).toThrow(RangeError);
  });

  it('takes 7 for the hard rejection, -1 for none, and NaN for no signal at all', () => {
    const windows = new ThrottleWindows(1000);
    windows.signal('a', 7, 0);
    expect(windows.remainingMs('a', 0)).toBe(1000);
    windows.signal('a', Number.NaN, 10);
    expect(windows.remainingMs('a', 10)).toBe(990);
    windows.signal('a', -1, 20);
    expect(windows.remainingMs('a', 20)).toBe(0);
    windows.signal('b', Number.NaN, 20);
    expect(windows.tracked).toBe(0);
  });

  it('keeps nothing of 10,000 throttled buckets that metadata does not name any more', () => {
    const windows = new ThrottleWindows(3000);
    for (let i = 0; i < 10_000; i += 1) windows.signal(`bucket-${i}`, 0.9, 0);
    expect(windows.tracked).toBe(10_000);
    windows.keepOnly([]);
    expect(windows.tracked).toBe(0);
  });

  it('sweeps what is over', () => {
    const windows = new ThrottleWindows(100);
    windows.signal('a', 0.5, 0);
    windows.signal('b', 1, 0);
    expect(windows.sweep(24)).toBe(0);
    expect(windows.sweep(25)).toBe(1);
    expect(windows.tracked).toBe(1);
  });

  it('never holds a bucket for longer than maxThrottleMs, and is what a list of signals says', () => {
    const bucket = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('signal' as const),
        bucket,
        value: fc.double({ min: -1, max: 2, noNaN: true }),
      }),
      fc.record({ kind: fc.constant('metadata' as const), buckets: fc.subarray(['a', 'b', 'c']) }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(1500) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(3000), (steps, maxThrottleMs) => {
        const windows = new ThrottleWindows(maxThrottleMs);
        let signals: { bucket: string; value: number; atMs: number }[] = [];
        let nowMs = 0;
        for (const one of steps) {
          if (one.kind === 'wait') nowMs += one.ms;
          if (one.kind === 'metadata') {
            windows.keepOnly(one.buckets);
            signals = signals.filter((signal) => one.buckets.includes(signal.bucket));
          }
          if (one.kind === 'signal') {
            windows.signal(one.bucket, one.value, nowMs);
            signals.push({ bucket: one.bucket, value: one.value, atMs: nowMs });
          }
          for (const name of ['a', 'b', 'c']) {
            const last = signals.filter((signal) => signal.bucket === name).at(-1);
            const naive =
              last === undefined
                ? 0
                : Math.max(0, last.atMs + throttleWindowMs(last.value, maxThrottleMs) - nowMs);
            const got = windows.remainingMs(name, nowMs);
            expect(got).toBe(naive);
            expect(got).toBeLessThanOrEqual(maxThrottleMs);
          }
        }
      }),
    );
  });
});
