import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import { RateLimitExceededError } from '../../src/shared/errors.js';
import { STATS } from '../../src/shared/kernel/port.js';
import { CALL_STATS } from '../../src/shared/layout.js';
import { intervalNs } from '../../src/shared/quota.js';
import { QueuedCell } from '../../src/workers/queued-cell.js';
import type { Grant } from '../../src/workers/queued-limiter.js';
import { WaitQueue } from '../../src/workers/wait-queue.js';
import { bothKernels, counter, strictPlace } from '../shared/both-kernels.js';
import {
  setSettings,
  VirtualClock,
  virtualThread,
  type Watched,
  watched,
} from './virtual-thread.js';

describe.each(bothKernels())('a queue at a strict limiter on the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  let clock: VirtualClock;
  let limiter: QueuedCell;
  let queue: WaitQueue;
  let stats: number;

  beforeEach(() => {
    arena = fresh();
    setSettings(arena);
    clock = new VirtualClock();
    ({ limiter, queue, stats } = lineOf(0));
    configure(10);
  });

  const lineOf = (place: number) => {
    const thread = virtualThread(arena, clock, place);
    const at = {
      cell: strictPlace(arena).cell,
      stats: thread.place.stats(0, 'table'),
      waiting: thread.place.calls(0) + CALL_STATS.TABLE_WAITING,
    };
    const own = new QueuedCell(thread, { rpc: 'get_rowset', table: '7' }, at);
    return { limiter: own, queue: new WaitQueue(own, thread), stats: at.stats };
  };
  const fieldOf = (place: number) => arena.layout.thread(place).calls(0);
  const configure = (qps: number, reset = 0): void =>
    arena.kernel.strictConfigure(
      strictPlace(arena).cell,
      clock.nowNs(),
      qps === 0 ? 0 : intervalNs(qps),
      qps,
      reset,
    );
  const acquire = (maxWaitMs = 1e6, signal?: AbortSignal): Watched<Grant> =>
    watched(clock, () => {
      const spend = (grant: Grant): Grant => {
        if (grant.booking !== undefined) limiter.spend(grant.booking);
        return grant;
      };
      const entered = queue.acquire(1, maxWaitMs, signal);
      return entered instanceof Promise ? entered.then(spend) : spend(entered);
    });
  const several = (count: number) => Array.from({ length: count }, () => acquire());
  const times = (calls: readonly Watched<Grant>[]) => calls.map(({ atMs }) => atMs);
  const accounts = () =>
    [STATS.RESERVED, STATS.SPENT, STATS.RETURNED, STATS.LOST].map((which) =>
      counter(arena, stats, which),
    );

  it('spaces the calls of all threads, in the order of their reservations', async () => {
    const other = lineOf(1);
    const calls = [...several(2), watched(clock, () => other.queue.acquire(1, 1e6, undefined))];
    await clock.pass(1000);
    expect(times(calls)).toEqual([0, 100, 200]);
  });

  it('counts who waits now', async () => {
    const waiting = () => counter(arena, fieldOf(0), CALL_STATS.TABLE_WAITING);
    const impatient = new AbortController();
    several(3);
    acquire(1e6, impatient.signal);
    acquire(50);
    expect(waiting()).toBe(3);
    impatient.abort();
    expect(waiting()).toBe(2);
    await clock.pass(100);
    expect(waiting()).toBe(1);
    queue.rejectAll(new Error('closed'));
    expect(waiting()).toBe(0);
  });

  it('refuses at once whose wait would be too long, naming table and RPC type', () => {
    several(3);
    const { error } = acquire(299);
    expect(error).toBeInstanceOf(RateLimitExceededError);
    expect(error).toMatchObject({
      stage: 'table',
      table: '7',
      rpc: 'get_rowset',
      retryAfterMs: 300,
    });
    expect(counter(arena, stats, STATS.REFUSED)).toBe(1);
  });

  it('keeps planned times when the rate changes, and spaces those behind by the new one', async () => {
    const calls = several(4);
    configure(100);
    queue.pump();
    await clock.pass(1000);
    expect(times(calls)).toEqual([0, 100, 200, 210]);
  });

  it('re-plans all who wait from now on, in their order, after a reset', async () => {
    configure(1, 1);
    const calls = several(4);
    await clock.pass(1500);
    configure(10, 1);
    queue.pump();
    await clock.pass(2000);
    expect(times(calls)).toEqual([0, 1000, 1500, 1600]);
    expect(accounts()).toEqual([5, 4, 1, 0]);
  });

  it('lets all go at once when the limit is removed, also when it was set anew and removed again', async () => {
    const calls = several(5);
    configure(0);
    configure(1);
    configure(0);
    queue.pump();
    await clock.pass(0);
    expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
    expect(accounts()).toEqual([2, 1, 1, 0]);
  });

  it.each([1, 2, 3, 4, 5, 9])(
    'finds its way after %d changes that it was not told of',
    async (changes) => {
      const calls = several(10);
      for (let i = 0; i < changes; i++) configure(20 + i);
      queue.pump();
      await clock.pass(2000);
      const order = times(calls);
      expect(order.every(Number.isFinite)).toBe(true);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      const [reserved, spent, returned, lost] = accounts() as [number, number, number, number];
      expect(reserved).toBe(spent + returned + lost);
    },
  );

  it('gives back the slot of who leaves when nobody is behind, and loses it otherwise', async () => {
    acquire();
    const controller = new AbortController();
    acquire(1e6, controller.signal);
    const other = lineOf(1);
    const behind = watched(clock, () => other.queue.acquire(1, 1e6, undefined));
    controller.abort('gone');
    expect(accounts()).toEqual([2, 1, 0, 1]);
    await clock.pass(1000);
    expect(behind.atMs).toBe(200);
    const again = new AbortController();
    acquire();
    acquire(1e6, again.signal);
    again.abort();
    await clock.pass(0);
    expect(accounts()).toEqual([4, 2, 1, 1]);
  });

  it('names a finite time to retry after when the queue is longer than can be held', () => {
    configure(1e-6, 1);
    const { cell, scratch } = strictPlace(arena);
    while (arena.kernel.strictReserve(cell, stats, scratch, 0, Number.POSITIVE_INFINITY) >= 0) {}
    const booked = limiter.book(0, 1, Number.POSITIVE_INFINITY);
    if (booked.kind !== 'refused') throw new Error(booked.kind);
    expect(booked.waitNs).toBeGreaterThan(300 * 86_400e9);
    expect(Number.isFinite(booked.waitNs)).toBe(true);
  });
});
