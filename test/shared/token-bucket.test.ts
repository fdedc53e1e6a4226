import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import { RateLimitExceededError } from '../../src/shared/errors.js';
import { STATS } from '../../src/shared/kernel/port.js';
import { TokenBucket } from '../../src/shared/token-bucket.js';
import { BAD_NUMBERS } from './bad-numbers.js';
import { bothKernels, bucketPlace, counter } from './both-kernels.js';
import { type Granted, worstExcess } from './grant-bound.js';

const S = 1e9;
const MS = 1e6;
const HOUR = 3600 * S;
const DAY = 24 * HOUR;

describe.each(bothKernels())('TokenBucket on the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  beforeEach(() => {
    arena = fresh();
  });

  const create = (qps: number, burst: number, now = 0, thread = 0): TokenBucket =>
    new TokenBucket(arena.kernel, bucketPlace(arena, thread), { qps, burst }, now);
  /** Takes until it is refused. */
  const drain = (bucket: TokenBucket, now: number): number => {
    let taken = 0;
    while (bucket.tryAcquire(now)) taken++;
    return taken;
  };

  it('starts full', () => {
    expect(drain(create(10, 5), 0)).toBe(5);
  });

  it('refuses the sixth permit until 100 ms have passed', () => {
    const bucket = create(10, 5);
    drain(bucket, 0);
    expect(bucket.tryAcquire(100 * MS - 1)).toBe(false);
    expect(bucket.tryAcquire(100 * MS)).toBe(true);
  });

  it('takes several at once or none of them', () => {
    const bucket = create(10, 5);
    expect(bucket.tryAcquire(0, 3)).toBe(true);
    expect(bucket.tryAcquire(0, 3)).toBe(false);
    expect(bucket.available(0)).toBe(2);
  });

  it('throws for more than the burst, which could never be granted', () => {
    const bucket = create(10, 5);
    expect(() => bucket.tryAcquire(0, 6)).toThrow(
      new RangeError('n must be at most the burst of 5, got 6: it could never be granted'),
    );
    expect(() => bucket.acquire(0, 6, 1e12)).toThrow(RangeError);
    bucket.configure({ qps: 10, burst: 4 }, 0);
    expect(() => bucket.tryAcquire(0, 5)).toThrow(/burst of 4, got 5/);
    expect(bucket.available(0)).toBe(4);
  });

  it('throws for a weight that would wrap the time word instead of granting it', () => {
    const bucket = create(1, 1);
    expect(() => bucket.tryAcquire(0, 18_446_744_074)).toThrow(RangeError);
    expect(() => bucket.reserve(0, 18_446_744_074)).toThrow(/more than a year of debt/);
    expect(bucket.available(0)).toBe(1);
  });

  it('reserves into debt, and tells the wait', () => {
    const bucket = create(10, 2);
    expect([bucket.reserve(0, 2), bucket.reserve(0), bucket.reserve(0, 5)]).toEqual([
      0,
      0.1 * S,
      0.6 * S,
    ]);
    expect(bucket.available(0)).toBe(-6);
    expect(bucket.tryAcquire(0.6 * S)).toBe(false);
    expect(bucket.tryAcquire(0.7 * S)).toBe(true);
  });

  it('acquires within the longest wait, and takes nothing beyond it', () => {
    const bucket = create(10, 1);
    expect(bucket.acquire(0, 1, 0)).toBe(0);
    expect(bucket.acquire(0, 1, 0.1 * S)).toBe(0.1 * S);
    const refused = (): unknown => {
      try {
        return bucket.acquire(0, 1, 0.1 * S);
      } catch (error) {
        return error;
      }
    };
    expect(refused()).toBeInstanceOf(RateLimitExceededError);
    expect(refused()).toMatchObject({ retryAfterMs: 200, stage: 'host' });
    expect(bucket.available(0)).toBe(-1);
  });

  it('refunds up to a full bucket', () => {
    const bucket = create(10, 5);
    bucket.tryAcquire(0, 5);
    bucket.refund(2);
    expect(bucket.available(0)).toBe(2);
    bucket.refund(1000);
    expect(bucket.available(0)).toBe(5);
  });

  it('keeps balance and debt when it is configured, and is full after a reset', () => {
    const bucket = create(10, 10);
    bucket.reserve(0, 13);
    bucket.configure({ qps: 1000, burst: 100 }, 0);
    expect(bucket.available(0)).toBe(-3);
    bucket.reset({ qps: 10, burst: 3 }, 0);
    expect(drain(bucket, 0)).toBe(3);
  });

  it('goes on with the old quota after a change that was refused', () => {
    const bucket = create(10, 5);
    bucket.tryAcquire(0, 5);
    expect(() => bucket.configure({ qps: Number.NaN, burst: 5 }, 0)).toThrow(RangeError);
    expect(() => bucket.reset({ qps: 10, burst: 1.5 }, 0)).toThrow(RangeError);
    expect(bucket.tryAcquire(0)).toBe(false);
    expect(bucket.tryAcquire(0.1 * S)).toBe(true);
  });

  describe('time', () => {
    it('counts nothing twice when threads commit in another order than they read the clock', () => {
      const [a, b] = [create(1000, 1), bucketOf(1)];
      drain(a, 0);
      // A reads 9 ms and is held up, B commits at 10, A commits, both read 11.
      expect(b.tryAcquire(10 * MS)).toBe(true);
      expect(a.tryAcquire(9 * MS)).toBe(false);
      expect([a.tryAcquire(11 * MS), b.tryAcquire(11 * MS)]).toEqual([true, false]);
    });

    /** The same bucket as a thread sees it that did not create it. */
    const bucketOf = (thread: number): TokenBucket => {
      const place = bucketPlace(arena, thread);
      const other = create(1000, 1, 0, thread);
      expect(place.bucket).toBe(bucketPlace(arena).bucket);
      return other;
    };

    it('that goes back is no time, and forward again is none either', () => {
      const bucket = create(1, 3, 60 * S);
      drain(bucket, 60 * S);
      expect(bucket.tryAcquire(49 * S)).toBe(false);
      expect(bucket.reserve(49 * S)).toBeLessThanOrEqual(S);
      expect(drain(bucket, 60 * S)).toBe(0);
      expect(drain(bucket, 62 * S)).toBe(1);
    });

    it('that leaps gives one burst, no more', () => {
      const bucket = create(1, 3);
      drain(bucket, 0);
      expect(drain(bucket, 11_000 * S)).toBe(3);
    });

    it.each([
      ['12 hours', 12 * HOUR],
      ['30 days', 30 * DAY],
      ['300 days', 300 * DAY],
      ['5 years', 5 * 365 * DAY],
    ])('of %s without a call leaves exactly the burst', (_, rest) => {
      const bucket = create(1000, 100);
      drain(bucket, 0);
      expect(drain(bucket, rest)).toBe(100);
      expect(bucket.tryAcquire(rest + 2 * MS, 2)).toBe(true);
      expect(bucket.tryAcquire(rest + 2 * MS)).toBe(false);
    });

    it.each([...BAD_NUMBERS.filter(([, value]) => value !== -1), ['-1', -1] as const])(
      'of %s is refused and spoils nothing',
      (_, now) => {
        const bucket = create(10, 2);
        for (const use of [
          () => bucket.tryAcquire(now),
          () => bucket.reserve(now),
          () => bucket.acquire(now, 1, 0),
          () => bucket.available(now),
          () => bucket.configure({ qps: 5, burst: 1 }, now),
        ]) {
          expect(use).toThrow(/^nowNs must be /);
        }
        expect(drain(bucket, 0)).toBe(2);
        expect(drain(bucket, 0.1 * S)).toBe(1);
      },
    );
  });

  describe.each([...BAD_NUMBERS, ['0', 0] as const, ['-0', -0] as const, ['1.5', 1.5] as const])(
    'given %s',
    (_, value) => {
      it('as a weight, refuses it and takes nothing', () => {
        const bucket = create(10, 5);
        for (const use of [
          () => bucket.tryAcquire(0, value),
          () => bucket.reserve(0, value),
          () => bucket.acquire(0, value, 0),
          () => bucket.refund(value),
        ]) {
          expect(use).toThrow(/^n must be /);
        }
        expect(bucket.available(0)).toBe(5);
      });

      it('as a burst, refuses it', () => {
        expect(() => create(10, value)).toThrow(/^burst must be /);
      });
    },
  );

  it.each(BAD_NUMBERS.filter(([, value]) => value !== Number.POSITIVE_INFINITY))(
    'refuses a longest wait of %s',
    (_, value) => {
      const bucket = create(10, 5);
      expect(() => bucket.acquire(0, 1, value)).toThrow(/^maxWaitNs must be /);
      expect(bucket.available(0)).toBe(5);
    },
  );

  it('counts what it granted by how it was taken', () => {
    const bucket = create(10, 5);
    bucket.tryAcquire(0, 2);
    bucket.reserve(0, 3);
    bucket.tryAcquire(0);
    const { stats } = bucketPlace(arena);
    expect(
      [STATS.DIRECT, STATS.RESERVED, STATS.REFUSED].map((which) => counter(arena, stats, which)),
    ).toEqual([2, 3, 1]);
  });

  describe('over a long run', () => {
    it.each([
      0.1, 0.3, 1, 7, 99, 999, 1500, 2500, 33_333, 50_000, 333_333, 700_001, 999_999, 1_000_000,
    ])('grants %d/s with an error of at most 0.1 percent, whoever asks all the time', (qps) => {
      const bucket = create(qps, 1);
      drain(bucket, 0);
      // Asked for four times per permit, at moments that do not fall together with it.
      const step = S / qps / 4.01;
      const calls = 40_000;
      const grants: Granted[] = [{ atNs: 0, n: 1 }];
      for (let i = 1; i <= calls; i++) {
        if (bucket.tryAcquire(i * step)) grants.push({ atNs: i * step, n: 1 });
      }
      expect(worstExcess(grants, [{ fromNs: 0, qps, burst: 1 }])).toBeLessThan(1e-6);
    });

    it.each([
      0.1, 0.3, 1, 7, 99, 999, 1500, 2500, 33_333, 50_000, 333_333, 700_001, 999_999, 1_000_000,
    ])('reserves %d/s with an error of at most 0.1 percent', (qps) => {
      const bucket = create(qps, 1);
      let now = 0;
      for (let i = 0; i < 10_000; i++) now += bucket.reserve(now);
      const rate = (9999 * S) / now;
      expect(rate).toBeLessThanOrEqual(qps * (1 + 1e-12));
      expect(rate).toBeGreaterThanOrEqual(qps * 0.999);
    });
  });
});
