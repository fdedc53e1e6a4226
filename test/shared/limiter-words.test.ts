import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import {
  bookingAt,
  bucketWords,
  cellQps,
  cellWords,
  type LimiterWords,
} from '../../src/shared/limiter-words.js';
import { bothKernels, bucketPlace, strictPlace } from './both-kernels.js';

describe.each(bothKernels())('words of the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  beforeEach(() => {
    arena = fresh();
  });

  describe('a bucket', () => {
    let words: LimiterWords;
    const configure = (qps: number, burst: number, now = 0, reset = 0): void => {
      const interval = qps === 0 ? 0 : Math.floor(1e9 / qps);
      const { bucket } = bucketPlace(arena);
      arena.kernel.configure(bucket, now, interval, interval * burst, qps, burst, reset);
    };
    beforeEach(() => {
      words = bucketWords(arena, bucketPlace(arena).bucket);
    });

    it('has no rate before it is configured', () => {
      expect([words.epoch(), words.qps()]).toEqual([0, 0]);
      expect(words.terms(0)).toMatchObject({ intervalNs: 0, plan: 0 });
    });

    it('reads as it was configured', () => {
      configure(10, 5, 77);
      expect(words.qps()).toBe(10);
      expect(words.terms(words.epoch())).toEqual({
        epoch: 1,
        plan: 1,
        intervalNs: 1e8,
        tauNs: 5e8,
        changedAtNs: 77,
      });
    });

    it('counts a plan per reset, and per limit after none', () => {
      const plans = [
        [10, 0],
        [20, 0],
        [20, 1],
        [0, 0],
        [10, 0],
      ].map(([qps, reset]) => {
        configure(qps as number, 5, 0, reset);
        return words.terms(words.epoch()).plan;
      });
      expect(plans).toEqual([1, 1, 2, 2, 3]);
      configure(0, 1);
      expect(words.qps()).toBe(0);
    });

    it.each([0, 3, 57, 63])('knows the last 7 changes, oldest first, from epoch %d on', (start) => {
      for (let i = 0; i < start; i++) configure(1, 1);
      const since = words.epoch();
      expect(words.changesSince(since)).toEqual([]);
      for (let change = 1; change <= 7; change++) {
        configure(change, 1, change);
        const changes = words.changesSince(since);
        expect(changes?.map(({ changedAtNs }) => changedAtNs)).toEqual(
          Array.from({ length: change }, (_, i) => i + 1),
        );
      }
      configure(8, 1, 8);
      expect(words.changesSince(since)).toBeUndefined();
    });

    it('tells of a reservation what it was planned under, and how to undo it', () => {
      configure(10, 1, 5);
      const { bucket, stats, scratch } = bucketPlace(arena);
      const wait = arena.kernel.reserve(bucket, stats, scratch, 5, 3, Number.POSITIVE_INFINITY);
      expect(bookingAt(arena, words, scratch, 3, 5 + wait)).toEqual({
        n: 3,
        atNs: 5 + 2e8,
        epoch: 1,
        plan: 1,
        intervalNs: 1e8,
        undo: { begin: (1n << 58n) + 5n, end: (1n << 58n) + 300_000_005n },
      });
    });
  });

  describe('a cell', () => {
    let words: LimiterWords;
    const configure = (qps: number, reset = 0): void =>
      arena.kernel.strictConfigure(
        strictPlace(arena).cell,
        0,
        qps === 0 ? 0 : Math.floor(1e9 / qps),
        qps,
        reset,
      );
    beforeEach(() => {
      words = cellWords(arena, strictPlace(arena).cell);
    });

    it('reads as it was configured, with a burst of one', () => {
      expect(words.qps()).toBe(0);
      configure(10);
      expect(words.qps()).toBe(10);
      expect(words.terms(1)).toMatchObject({ epoch: 1, intervalNs: 1e8, tauNs: 1e8, plan: 1 });
    });

    it('tells its rate at a glance: in whatever slot its terms are, and none once it is removed', () => {
      const { cell } = strictPlace(arena);
      expect(cellQps(arena, cell)).toBe(0);
      for (const qps of [10, 20, 0, 30, 40, 50, 0]) {
        configure(qps);
        expect(cellQps(arena, cell)).toBe(qps);
      }
    });

    it('counts a plan per reset, per removal, and per limit after none', () => {
      const plans = [
        [10, 0],
        [20, 0],
        [20, 1],
        [0, 1],
        [10, 0],
      ].map(([qps, reset]) => {
        configure(qps as number, reset);
        return words.terms(words.epoch()).plan;
      });
      expect(plans).toEqual([1, 1, 2, 3, 4]);
    });

    it.each([0, 62, 63])('knows the last 3 changes, oldest first, from epoch %d on', (start) => {
      for (let i = 0; i < start; i++) configure(1);
      const since = words.epoch();
      for (let change = 1; change <= 3; change++) {
        configure(change);
        const intervals = words.changesSince(since)?.map(({ intervalNs }) => intervalNs);
        expect(intervals).toEqual([1e9, 5e8, 1e9 / 3].map(Math.floor).slice(0, change));
      }
      configure(4);
      expect(words.changesSince(since)).toBeUndefined();
    });

    it('tells of a reservation how to undo it', () => {
      configure(10);
      const { cell, stats, scratch } = strictPlace(arena);
      arena.kernel.strictReserve(cell, stats, scratch, 7, Number.POSITIVE_INFINITY);
      expect(bookingAt(arena, words, scratch, 1, 7).undo).toEqual({
        begin: (1n << 58n) + 7n,
        end: (1n << 58n) + 100_000_007n,
      });
    });
  });
});
