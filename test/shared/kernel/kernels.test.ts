import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../../src/shared/arena.js';
import type { Kernel } from '../../../src/shared/kernel/port.js';
import {
  EPOCH_SHIFT,
  MAX_DEBT_NS,
  STATS,
  TakeCode,
  TIME_MASK,
} from '../../../src/shared/kernel/port.js';
import { MAX_SPAN_NS } from '../../../src/shared/quota.js';
import { bothKernels, bucketPlace, counter, strictPlace } from '../both-kernels.js';

const SECOND = 1e9;
const FOR_EVER = Number.POSITIVE_INFINITY;
const YEAR_NS = 365 * 86_400e9;

describe.each(bothKernels())('$kind kernel', ({ fresh }) => {
  let arena: Arena;
  let kernel: Kernel;
  let bucket: number;
  let stats: number;
  let scratch: number;
  let cell: number;
  let cellStats: number;

  beforeEach(() => {
    arena = fresh();
    kernel = arena.kernel;
    ({ bucket, stats, scratch } = bucketPlace(arena));
    ({ cell, stats: cellStats } = strictPlace(arena));
  });

  const setBucket = (qps: number, burst: number, now = 0, reset = 0): void =>
    kernel.configure(bucket, now, SECOND / qps, (burst * SECOND) / qps, qps, burst, reset);
  const setCell = (qps: number, now = 0, reset = 0): void =>
    kernel.strictConfigure(cell, now, qps === 0 ? 0 : SECOND / qps, qps, reset);
  const take = (now: number, n = 1): number => kernel.tryAcquire(bucket, stats, now, n);
  const takeCoarse = (): number => kernel.tryAcquireCoarse(bucket, stats);
  const reserve = (now: number, n = 1, maxWait = FOR_EVER): number =>
    kernel.reserve(bucket, stats, scratch, now, n, maxWait);
  const hold = (now: number, n = 1): number => kernel.hold(bucket, stats, scratch, now, n);
  const giveBack = (now: number, n = 1): number => kernel.giveBack(bucket, stats, scratch, now, n);
  const plan = (now: number, maxWait = FOR_EVER): number =>
    kernel.strictReserve(cell, cellStats, scratch, now, maxWait);
  const unplan = (): number => kernel.strictGiveBack(cell, cellStats, scratch);
  const count = (which: number, block = stats): number => counter(arena, block, which);
  const timeOf = (word: number): bigint => (arena.u64[word >>> 3] as bigint) & TIME_MASK;
  const epochOf = (word: number): number =>
    Number((arena.u64[word >>> 3] as bigint) >> EPOCH_SHIFT);
  /** What a reservation has left, so that it can be given back later. */
  const keepUndo = (): (() => void) => {
    const [begin, end] = [arena.u64[scratch >>> 3], arena.u64[(scratch >>> 3) + 1]];
    return () => {
      arena.u64[scratch >>> 3] = begin as bigint;
      arena.u64[(scratch >>> 3) + 1] = end as bigint;
    };
  };

  describe('tryAcquire', () => {
    it('enforces nothing on a bucket that was never configured, and counts nothing', () => {
      expect(take(5)).toBe(TakeCode.NOT_ENFORCED);
      expect(count(STATS.DIRECT)).toBe(0);
    });

    it('grants the burst, refuses what is not there, and counts both', () => {
      setBucket(10, 5);
      expect(Array.from({ length: 6 }, () => take(0))).toEqual([1, 1, 1, 1, 1, TakeCode.REFUSED]);
      expect(take(0.2 * SECOND, 2)).toBe(TakeCode.GRANTED);
      expect([count(STATS.DIRECT), count(STATS.REFUSED)]).toEqual([7, 1]);
    });

    it('says of more than the burst that it is impossible, and does not count it as refused', () => {
      setBucket(10, 5);
      expect(take(0, 6)).toBe(TakeCode.IMPOSSIBLE);
      expect([count(STATS.DIRECT), count(STATS.REFUSED)]).toEqual([0, 0]);
    });

    it.each([
      [1, 18_446_744_074],
      [SECOND / 2 ** 25, 2 ** 39],
      [1, 1e12],
      [1e7, 1e12],
    ])('at %d/s finds %d permits impossible though interval x n passes 2^64', (qps, n) => {
      setBucket(qps, 1);
      expect(take(0, n)).toBe(TakeCode.IMPOSSIBLE);
      expect(kernel.available(bucket, 0)).toBe(1);
    });
  });

  describe('reserve', () => {
    it('waits for what is not there, and counts what it reserved', () => {
      setBucket(10, 1);
      expect([reserve(0), reserve(0), reserve(0, 2)]).toEqual([0, 0.1e9, 0.3e9]);
      expect(count(STATS.RESERVED)).toBe(4);
    });

    it('takes nothing when the wait would be longer than allowed, and says how long', () => {
      setBucket(10, 1);
      reserve(0);
      expect(reserve(0, 1, 0.1e9 - 1)).toBe(-0.1e9 - 1);
      expect(reserve(0, 1, 0.1e9)).toBe(0.1e9);
      expect(count(STATS.RESERVED)).toBe(2);
    });

    it('is not enforced where nothing is limited', () => {
      expect(reserve(0)).toBeNaN();
      expect(count(STATS.RESERVED)).toBe(0);
    });

    it.each([
      [1, 18_446_744_074],
      [SECOND / 2 ** 25, 2 ** 39],
      [1, 1e12],
      [1 / (90 * 86_400), 1e12],
    ])('at %d/s does not hold a debt of %d permits', (qps, n) => {
      setBucket(qps, 1);
      expect(reserve(0, n)).toBe(Number.NEGATIVE_INFINITY);
      expect(kernel.available(bucket, 0)).toBe(1);
    });

    it('never lets a sum of debts, bursts and changes reach the epoch bits', () => {
      const late = 7 * YEAR_NS;
      for (const now of [0, late]) {
        kernel.configure(bucket, now, MAX_SPAN_NS, MAX_SPAN_NS, 1 / 7_776_000, 1, 1);
        const epoch = epochOf(bucket);
        while (reserve(now) >= 0) {}
        expect(reserve(now)).toBe(Number.NEGATIVE_INFINITY);
        expect(epochOf(bucket)).toBe(epoch);
        expect(timeOf(bucket)).toBeLessThanOrEqual(BigInt(now + MAX_DEBT_NS));
        // The same debt in tokens, of which each takes a million times as long now: it is cut to a year.
        kernel.configure(bucket, now, 1000, 1000, 1e6, 1, 1);
        while (reserve(now, 1e12) >= 0) {}
        kernel.configure(bucket, now, MAX_SPAN_NS, MAX_SPAN_NS, 1 / 7_776_000, 1, 0);
        expect(epochOf(bucket)).toBe(epoch + 2);
        expect(timeOf(bucket)).toBeLessThanOrEqual(BigInt(now + MAX_SPAN_NS + MAX_DEBT_NS));
        expect(reserve(now)).toBe(Number.NEGATIVE_INFINITY);
        kernel.strictConfigure(cell, now, MAX_SPAN_NS, 1 / 7_776_000, 1);
        const planned = epochOf(cell + 8);
        while (plan(now) >= 0) {}
        expect(epochOf(cell + 8)).toBe(planned);
        expect(timeOf(cell + 8)).toBeLessThanOrEqual(BigInt(now + MAX_DEBT_NS + 2 * MAX_SPAN_NS));
      }
    });
  });

  describe('hold', () => {
    it('takes as tryAcquire does, counts it as reserved, and leaves how to undo it', () => {
      setBucket(10, 2);
      expect([hold(0), hold(0), hold(0), hold(0, 3)]).toEqual([
        TakeCode.GRANTED,
        TakeCode.GRANTED,
        TakeCode.REFUSED,
        TakeCode.IMPOSSIBLE,
      ]);
      expect([count(STATS.RESERVED), count(STATS.DIRECT), count(STATS.REFUSED)]).toEqual([2, 0, 0]);
      expect(giveBack(0)).toBe(1);
      expect(kernel.available(bucket, 0)).toBe(1);
      kernel.close();
      expect(hold(0)).toBe(TakeCode.CLOSED);
    });

    it('enforces nothing on a bucket that was never configured', () => {
      expect(hold(0)).toBe(TakeCode.NOT_ENFORCED);
      expect(count(STATS.RESERVED)).toBe(0);
    });
  });

  describe('giveBack', () => {
    it('undoes the last reservation exactly', () => {
      setBucket(10, 2);
      take(0);
      const before = timeOf(bucket);
      reserve(0, 2);
      expect(giveBack(0, 2)).toBe(1);
      expect(timeOf(bucket)).toBe(before);
      expect(count(STATS.RETURNED)).toBe(2);
    });

    it('refuses the first of three reservations at 0, 1000 and 2000 ms, so that nobody shares the last slot', () => {
      setBucket(1, 1);
      expect(reserve(0)).toBe(0);
      const undoFirst = keepUndo();
      expect([reserve(0), reserve(0)]).toEqual([1e9, 2e9]);
      undoFirst();
      expect(giveBack(0)).toBe(0);
      expect(count(STATS.RETURNED)).toBe(0);
      expect(reserve(0)).toBe(3e9);
    });

    it('refuses what others were granted behind, once its own permit would have overflowed the bucket', () => {
      setBucket(1, 1);
      expect(reserve(0)).toBe(0);
      const undo = keepUndo();
      expect(take(1e9)).toBe(TakeCode.GRANTED);
      undo();
      // The bucket is empty, not in debt: a permit given back now would be a second one at this moment.
      expect(giveBack(1e9)).toBe(0);
      expect(take(1e9)).toBe(TakeCode.REFUSED);
    });

    it('gives back behind a grant while the bucket has not been full since, and is not in debt', () => {
      setBucket(1, 3);
      take(0);
      expect(reserve(0)).toBe(0);
      const undo = keepUndo();
      expect(take(0.5e9)).toBe(TakeCode.GRANTED);
      undo();
      expect(giveBack(0.5e9)).toBe(1);
      expect([take(0.5e9), take(0.5e9)]).toEqual([TakeCode.GRANTED, TakeCode.REFUSED]);
    });

    it('refuses after a change of the configuration, whatever the times', () => {
      setBucket(1, 2);
      reserve(0);
      setBucket(1, 2);
      expect(giveBack(0)).toBe(0);
      expect(kernel.available(bucket, 0)).toBe(1);
    });

    it('refuses where nothing is limited any more', () => {
      setBucket(1, 2);
      reserve(0);
      kernel.configure(bucket, 0, 0, 0, 0, 1, 0);
      expect(giveBack(0)).toBe(0);
    });
  });

  it('refunds up to a full bucket, also more than 2^64 ns worth', () => {
    setBucket(1, 5);
    take(1e9, 5);
    kernel.refund(bucket, 2);
    expect(kernel.available(bucket, 1e9)).toBe(2);
    kernel.refund(bucket, 18_446_744_074);
    expect(kernel.available(bucket, 1e9)).toBe(5);
  });

  describe('configure', () => {
    it('starts full', () => {
      setBucket(10, 7, 3e9);
      expect(kernel.available(bucket, 3e9)).toBe(7);
    });

    it('keeps the balance in permits, cut to the new burst', () => {
      setBucket(10, 10);
      take(0, 4);
      setBucket(100, 50);
      expect(kernel.available(bucket, 0)).toBe(6);
      setBucket(1, 3);
      expect(kernel.available(bucket, 0)).toBe(3);
      setBucket(1, 100);
      expect(kernel.available(bucket, 0)).toBe(3);
    });

    it('keeps the debt in permits', () => {
      setBucket(10, 1);
      reserve(0, 5);
      setBucket(1000, 8);
      expect(kernel.available(bucket, 0)).toBe(-4);
    });

    it('fills the bucket on a reset, and after a time without a limit', () => {
      setBucket(10, 10);
      take(0, 10);
      setBucket(10, 4, 0, 1);
      expect(kernel.available(bucket, 0)).toBe(4);
      take(0, 4);
      kernel.configure(bucket, 0, 0, 0, 0, 1, 0);
      expect(kernel.available(bucket, 0)).toBeNaN();
      setBucket(10, 3);
      expect(kernel.available(bucket, 0)).toBe(3);
    });

    it('goes on after its epoch has wrapped, 200 changes on', () => {
      setBucket(10, 10);
      take(0, 4);
      for (let i = 0; i < 200; i++) {
        const qps = [10, 20, 50][i % 3] as number;
        setBucket(qps, 10);
        expect(epochOf(bucket)).toBe((i + 2) % 64);
        expect(kernel.available(bucket, 0)).toBe(6);
      }
      expect([take(0, 6), take(0)]).toEqual([TakeCode.GRANTED, TakeCode.REFUSED]);
    });
  });

  describe('strict limiter', () => {
    it('counts every call, and says which pairs have a limit', () => {
      expect(kernel.enter(cell)).toBe(0);
      setCell(10);
      expect(kernel.enter(cell)).toBe(1);
      setCell(0);
      expect(kernel.enter(cell)).toBe(0);
      expect(arena.u64[cell >>> 3]).toBe(3n);
    });

    it('plans one call per interval, from now on when it has rested', () => {
      setCell(10);
      expect([plan(0), plan(0), plan(0.15e9)]).toEqual([0, 0.1e9, 0.05e9]);
      expect([plan(9e9), plan(9e9)]).toEqual([0, 0.1e9]);
      expect(count(STATS.RESERVED, cellStats)).toBe(5);
    });

    it('takes nothing when the wait would be longer than allowed', () => {
      setCell(10);
      plan(0);
      expect(plan(0, 99e6)).toBe(-100e6 - 1);
      expect(plan(0)).toBe(100e6);
    });

    it('gives back only the last reservation', () => {
      setCell(10);
      plan(0);
      const undoFirst = keepUndo();
      plan(0);
      expect(unplan()).toBe(1);
      expect(plan(0)).toBe(0.1e9);
      undoFirst();
      expect(unplan()).toBe(0);
      expect(count(STATS.RETURNED, cellStats)).toBe(1);
    });

    it('keeps the queue on a change, plans anew on a reset or a removal', () => {
      setCell(10);
      plan(0);
      plan(0);
      setCell(100);
      expect([plan(0), plan(0)]).toEqual([0.2e9, 0.21e9]);
      setCell(100, 0, 1);
      expect(plan(0)).toBe(0);
      setCell(0);
      expect(plan(0)).toBeNaN();
      setCell(1);
      expect([plan(0), plan(0)]).toEqual([0, 1e9]);
    });

    it('goes on after its epoch and its plan have wrapped, 3000 resets on', () => {
      for (let i = 1; i <= 3000; i++) {
        setCell(10, i, 1);
        expect(epochOf(cell + 8)).toBe(i % 64);
        expect([plan(i), plan(i)]).toEqual([0, 0.1e9]);
      }
    });
  });

  describe('coarse clock', () => {
    it('reads 0 until somebody publishes, then moves forward only', () => {
      expect(kernel.clock()).toBe(0);
      kernel.publishClock(20.7);
      kernel.publishClock(10);
      expect(kernel.clock()).toBe(20);
    });

    it('is retired by who found it stale, unless it has moved since', () => {
      kernel.publishClock(20);
      kernel.publishClock(30);
      kernel.retireClock(20);
      expect(kernel.clock()).toBe(30);
      kernel.retireClock(30);
      expect(kernel.clock()).toBe(0);
    });

    it('decides by its time, and says when it has none', () => {
      setBucket(1000, 1);
      expect(takeCoarse()).toBe(TakeCode.STALE);
      kernel.publishClock(5e6);
      expect([takeCoarse(), takeCoarse()]).toEqual([TakeCode.GRANTED, TakeCode.REFUSED]);
      kernel.publishClock(6e6);
      expect(takeCoarse()).toBe(TakeCode.GRANTED);
      // A refusal by it is no answer, so it is not counted.
      expect([count(STATS.DIRECT), count(STATS.REFUSED)]).toEqual([2, 0]);
    });
  });

  describe('close', () => {
    it('refuses whatever takes, by both clocks, from then on', () => {
      setBucket(10, 10);
      kernel.publishClock(5);
      kernel.close();
      expect(take(6)).toBe(TakeCode.CLOSED);
      expect(takeCoarse()).toBe(TakeCode.STALE);
      kernel.publishClock(7);
      expect(kernel.clock()).toBe(0);
      kernel.close();
      expect(take(6)).toBe(TakeCode.CLOSED);
    });
  });
});
