import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import { StrictLimiter } from '../../src/shared/strict-limiter.js';
import { BAD_NUMBERS } from './bad-numbers.js';
import { bothKernels, strictPlace } from './both-kernels.js';

const S = 1e9;

describe.each(bothKernels())('StrictLimiter on the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  beforeEach(() => {
    arena = fresh();
  });

  const create = (qps: number, now = 0): StrictLimiter =>
    new StrictLimiter(arena.kernel, strictPlace(arena), qps, now);
  /** Planned times in ms of `calls` reservations at `now`. */
  const planMs = (limiter: StrictLimiter, now: number, calls: number): number[] =>
    Array.from({ length: calls }, () => limiter.reserve(now) / 1e6);

  it('lets the first call go at once and spaces the others', () => {
    expect(planMs(create(10), 0, 4)).toEqual([0, 100, 200, 300]);
  });

  it('saves nothing up while it rests', () => {
    const limiter = create(10);
    limiter.reserve(0);
    expect(planMs(limiter, 60 * S, 3)).toEqual([60_000, 60_100, 60_200]);
  });

  it('plans for a clock that went back as if it had not', () => {
    const limiter = create(10, 5 * S);
    expect(planMs(limiter, 5 * S, 2)).toEqual([5000, 5100]);
    expect(planMs(limiter, 1 * S, 2)).toEqual([5200, 5300]);
  });

  it('keeps planned times on a change, and spaces what follows by the new rate', () => {
    const limiter = create(10);
    planMs(limiter, 0, 3);
    limiter.configure(100, 0);
    expect(limiter.qps).toBe(100);
    expect(planMs(limiter, 0, 3)).toEqual([300, 310, 320]);
  });

  it('plans from now on after a reset', () => {
    const limiter = create(1);
    planMs(limiter, 0, 10);
    limiter.configure(10, 50e6, true);
    expect(planMs(limiter, 50e6, 3)).toEqual([50, 150, 250]);
  });

  it.each([999, 1500, 2500, 50_000])(
    'holds %d/s within 1 percent over 10 s, and never plans two calls closer than the interval',
    (qps) => {
      const limiter = create(qps);
      let last = limiter.reserve(0);
      let closest = S;
      let calls = 0;
      for (let next = limiter.reserve(0); next <= 10 * S; next = limiter.reserve(0)) {
        closest = Math.min(closest, next - last);
        last = next;
        calls++;
      }
      expect(closest).toBeGreaterThanOrEqual(S / qps);
      expect(calls).toBeLessThanOrEqual(qps * 10);
      expect(calls).toBeGreaterThanOrEqual(qps * 10 * 0.99);
    },
  );

  it.each([0.1, 0.3, 1, 7, 333_333, 700_001, 999_999, 1_000_000])(
    'holds %d/s within 0.1 percent in the long run',
    (qps) => {
      const limiter = create(qps);
      let at = 0;
      for (let i = 0; i <= 10_000; i++) at = limiter.reserve(0);
      const rate = (10_000 * S) / at;
      expect(rate).toBeLessThanOrEqual(qps * (1 + 1e-12));
      expect(rate).toBeGreaterThanOrEqual(qps * 0.999);
    },
  );

  it.each([
    ...BAD_NUMBERS,
    ['0', 0] as const,
    ['-0', -0] as const,
    ['above the largest', 10_000_001] as const,
    ['below one in 90 days', 1e-7] as const,
  ])('refuses a rate of %s, and keeps the old one', (_, qps) => {
    expect(() => create(qps)).toThrow(/^qps must be /);
    const limiter = create(10);
    limiter.reserve(0);
    expect(() => limiter.configure(qps, 0, true)).toThrow(/^qps must be /);
    expect(limiter.qps).toBe(10);
    expect(planMs(limiter, 0, 2)).toEqual([100, 200]);
  });

  it.each(BAD_NUMBERS)('refuses a time of %s, and plans nothing', (_, now) => {
    const limiter = create(10);
    expect(() => limiter.reserve(now)).toThrow(/^nowNs must be /);
    expect(() => limiter.configure(20, now)).toThrow(/^nowNs must be /);
    expect(limiter.qps).toBe(10);
    expect(planMs(limiter, 0, 2)).toEqual([0, 100]);
  });

  it('plans a call a year ahead, and refuses one beyond it instead of letting it go at once', () => {
    const limiter = create(1 / (86_400 * 90));
    const days = planMs(limiter, 0, 5).map((ms) => Math.round(ms / 86_400_000));
    expect(days).toEqual([0, 90, 180, 270, 360]);
    expect(() => limiter.reserve(0)).toThrow(/^the queue must not be longer than a year/);
  });
});
