import { describe, expect, it } from 'vitest';
import { clockEpoch, createClock } from '../../src/workers/clock.js';

describe('clock', () => {
  it('never runs ahead of the epoch’s own clock, and lags by less than a millisecond', () => {
    const epoch = clockEpoch();
    const clock = createClock(epoch);
    let most = 0;
    let ahead = 0;
    for (let i = 0; i < 2000; i++) {
      const before = Number(process.hrtime.bigint() - epoch);
      const now = clock.nowNs();
      const after = Number(process.hrtime.bigint() - epoch);
      ahead = Math.max(ahead, now - after);
      // A reading that was interrupted says nothing.
      if (after - before < 1e5) most = Math.max(most, before - now);
    }
    expect(ahead).toBeLessThanOrEqual(1);
    expect(most).toBeLessThan(1e6);
  });

  it('never goes back', () => {
    const clock = createClock(clockEpoch());
    let last = 0;
    let back = 0;
    for (let i = 0; i < 10_000; i++) {
      const now = clock.nowNs();
      if (now < last) back += 1;
      last = now;
    }
    expect(back).toBe(0);
  });

  it('agrees with another one of the same epoch to a fraction of a millisecond', () => {
    const epoch = clockEpoch();
    const [a, b] = [createClock(epoch), createClock(epoch)];
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 100; i++) {
      const first = a.nowNs();
      const second = b.nowNs();
      least = Math.min(least, Math.abs(second - first));
    }
    expect(least).toBeLessThan(5e5);
  });
});
