import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import { RateLimitExceededError } from '../../src/shared/errors.js';
import { bothKernels } from '../shared/both-kernels.js';
import { BucketLine } from './bucket-line.js';
import { setSettings, VirtualClock } from './virtual-thread.js';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe.each(bothKernels())('wait queue on the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  let clock: VirtualClock;
  let line: BucketLine;

  const start = (qps: number, burst: number, lateMs: () => number = () => 0): void => {
    clock = new VirtualClock({ lateMs });
    line = new BucketLine(arena, clock);
    line.configure(qps, burst);
  };
  /** When each of them settled, ms. */
  const times = (calls: readonly { readonly atMs: number }[]): number[] =>
    calls.map(({ atMs }) => Math.round(atMs * 1000) / 1000);
  const states = (calls: readonly { readonly state: string }[]): string[] =>
    calls.map(({ state }) => state);
  const several = (count: number, options?: Parameters<BucketLine['acquire']>[0]) =>
    Array.from({ length: count }, () => line.acquire(options));

  beforeEach(() => {
    arena = fresh();
    setSettings(arena);
  });

  describe('order', () => {
    it('lets a call go at once while permits are there, and arms nothing', () => {
      start(10, 5);
      expect(states(several(5))).toEqual(Array(5).fill('resolved'));
      expect(clock.armed).toBe(0);
      expect(line.held()).toBe(0);
    });

    it('grants first come, first served, one per interval', async () => {
      start(10, 1);
      const calls = several(5);
      await clock.pass(1000);
      expect(times(calls)).toEqual([0, 100, 200, 300, 400]);
      expect(clock.armed).toBe(0);
    });

    it('tells each how long it was held', async () => {
      start(10, 1);
      several(2);
      clock.stall(30);
      const late = line.acquire();
      await clock.pass(1000);
      expect(late.value?.waitedNs).toBe(170e6);
    });

    it('hands out what comes while waiters of mixed weights leave all the time', async () => {
      start(100, 10);
      let granted = 0;
      let at = 0;
      const begin = (): void => {
        const abort = new AbortController();
        const n = 1 + (at++ % 2);
        const call = line.acquire({ n, signal: abort.signal });
        clock.arm(1 + ((at * 7) % 30), () => {
          if (call.state === 'resolved') granted += n;
          abort.abort();
          begin();
        });
      };
      for (let i = 0; i < 150; i++) begin();
      await clock.pass(2000);
      expect(granted).toBeGreaterThan(180);
      expect(granted).toBeLessThanOrEqual(10 + 200);
    });

    it('does not starve a heavy waiter by light ones that come later', async () => {
      start(10, 10);
      line.tryAcquire(10);
      const heavy = line.acquire({ n: 8 });
      const light = several(20);
      await clock.pass(3000);
      expect(times([heavy])).toEqual([800]);
      expect(times(light)).toEqual(Array.from({ length: 20 }, (_, i) => 900 + i * 100));
    });

    it('does not let a heavy waiter be starved by another thread that takes what is there', async () => {
      start(10, 10);
      line.tryAcquire(10);
      const heavy = line.acquire({ n: 8 });
      const other = new BucketLine(arena, clock, 1);
      let taken = 0;
      for (let i = 0; i < 200; i++) {
        if (other.tryAcquire()) taken++;
        await clock.pass(5);
      }
      expect(times([heavy])).toEqual([800]);
      expect(taken).toBe(1);
    });

    it('keeps the order of reservations across threads', async () => {
      start(10, 1);
      const other = new BucketLine(arena, clock, 1);
      const calls = [line.acquire(), line.acquire(), other.acquire(), line.acquire()];
      await clock.pass(1000);
      // The fourth is behind its own thread's second, which had no reservation yet when the third made its own.
      expect(times(calls)).toEqual([0, 100, 200, 300]);
    });
  });

  describe('bound and waiting time', () => {
    it('refuses at once, taking nothing, who would have to wait longer than it may', () => {
      start(10, 1);
      several(3);
      const before = line.accounts();
      const refused = line.acquire({ maxWaitMs: 299 });
      expect(refused.error).toBeInstanceOf(RateLimitExceededError);
      expect(refused.error).toMatchObject({ retryAfterMs: 300, stage: 'host', rpc: 'get_rowset' });
      expect(line.acquire({ maxWaitMs: 300 }).state).toBe('pending');
      expect(line.accounts()).toEqual(before);
    });

    it('refuses without a wait who may not wait at all', () => {
      start(10, 1);
      expect(line.acquire({ maxWaitMs: 0 }).state).toBe('resolved');
      expect(line.acquire({ maxWaitMs: 0 }).state).toBe('rejected');
    });

    it('rejects on time who waits longer than it may, because another thread came before', async () => {
      start(10, 1);
      several(2);
      const second = line.acquire({ maxWaitMs: 250 });
      const other = new BucketLine(arena, clock, 1);
      for (let i = 0; i < 5; i++) other.acquire();
      await clock.pass(1000);
      expect(second).toMatchObject({ state: 'rejected' });
      expect(second.atMs).toBeLessThanOrEqual(250);
      expect(second.error).toBeInstanceOf(RateLimitExceededError);
    });

    it('refuses whom a full queue has no place for', () => {
      setSettings(arena, { maxWaiters: 3 });
      start(10, 1);
      several(4);
      const refused = line.acquire();
      expect(refused.error).toMatchObject({ stage: 'queue', retryAfterMs: 400 });
      expect(line.queue.size).toBe(3);
    });

    it('refuses more than the burst as impossible', () => {
      start(10, 10);
      expect(line.acquire({ n: 11 }).error).toBeInstanceOf(RangeError);
      line.tryAcquire(10);
      several(2);
      expect(line.acquire({ n: 11 }).error).toBeInstanceOf(RangeError);
    });

    it('names a finite time to retry after when more debt cannot be held', () => {
      start(1e-6, 1);
      line.tryAcquire();
      while (
        line.arena.kernel.reserve(arena.layout.bucket(0, false), 8192, 8192, 0, 1, 1e99) >= 0
      ) {}
      const refused = line.acquire();
      expect(refused.error).toBeInstanceOf(RateLimitExceededError);
      const { retryAfterMs } = refused.error as RateLimitExceededError;
      expect(Number.isFinite(retryAfterMs)).toBe(true);
      expect(retryAfterMs).toBeGreaterThan(86_400_000);
    });
  });

  describe('timers', () => {
    it('arms at most one, whatever waits', async () => {
      start(100, 1);
      for (let i = 0; i < 50; i++) {
        line.acquire({ maxWaitMs: 2000 + (i % 7) * 100 });
        await clock.pass(3);
      }
      await clock.pass(5000);
      expect(clock.mostArmed).toBe(1);
      expect(clock.armed).toBe(0);
    });

    it('asks for whole delays of at least 1 ms, also at sub-millisecond spacing', async () => {
      start(50_000, 1);
      several(1000);
      await clock.pass(100);
      expect(line.planned.length).toBe(1000);
      expect(clock.delaysMs.least).toBeGreaterThanOrEqual(1);
    });

    it('chops a wait of 30 days: no delay is above an hour, nothing goes early or spins', async () => {
      start(1 / (30 * 86_400), 1);
      const calls = several(2, { maxWaitMs: 60 * 86_400_000 });
      await clock.pass(29 * 86_400_000);
      expect(states(calls)).toEqual(['resolved', 'pending']);
      await clock.pass(2 * 86_400_000);
      expect(times(calls)).toEqual([0, 30 * 86_400_000]);
      expect(clock.delaysMs.most).toBeLessThanOrEqual(3_600_000);
      expect(clock.fired).toBeLessThan(31 * 24);
    });

    it.each([
      ['all of them', [-0.3, -0.9, -0.999, -0.5], 4],
      ['every fourth', [0, 0.2, -0.9, 0.1], 2],
    ] as const)(
      'never grants early, and does not spin, when %s fire up to 1 ms early',
      async (_, offMs, most) => {
        let i = 0;
        start(100, 1, () => offMs[i++ % 4] as number);
        several(100);
        await clock.pass(2000);
        expect(line.gone.length).toBe(100);
        for (const [at, { atNs }] of line.gone.entries())
          expect(atNs).toBeGreaterThanOrEqual(at * 10e6);
        expect(clock.fired / 100).toBeLessThanOrEqual(most);
      },
    );

    it.each([
      [10_000, 100],
      [700, 1],
      [50, 1],
    ])(
      'fires at most twice per grant with 50,000 waiters at %d/s, burst %d',
      async (qps, burst) => {
        setSettings(arena, { maxWaiters: 50_000 });
        let i = 0;
        start(qps, burst, () => [-0.9, 0.1, 1.1, 0][i++ % 4] as number);
        line.tryAcquire(burst);
        const calls = several(50_000);
        await clock.pass(50_100 * (1000 / qps));
        expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
        expect(clock.fired).toBeLessThanOrEqual(2 * 50_000);
        expect(line.excess()).toBeLessThanOrEqual(1e-6);
      },
    );

    it.each([
      [1000, 1, 1],
      [1000, 1, 2],
      [5000, 1, 1.5],
      [50_000, 1, 1],
      [50_000, 1, 2],
      [50_000, 5, 2],
    ])(
      'loses no throughput at %d/s, burst %d, when every timer is %d ms late',
      async (qps, burst, lateMs) => {
        setSettings(arena, { maxWaiters: 50_000 });
        start(qps, burst, () => lateMs);
        several(qps / 2);
        await clock.pass(500);
        expect(line.planned.length / (qps / 2)).toBeGreaterThan(0.97);
        expect(line.excess()).toBeLessThanOrEqual(1e-6);
      },
    );
  });

  describe('abort', () => {
    it('rejects with the reason at once, and takes nothing', async () => {
      start(10, 1);
      several(1);
      const controller = new AbortController();
      const calls = several(10, { signal: controller.signal });
      const last = line.acquire();
      controller.abort('gone');
      await clock.pass(0);
      expect(calls.every(({ error }) => error === 'gone')).toBe(true);
      expect(listeners(controller.signal)).toBe(0);
      expect(line.queue.size).toBe(1);
      await clock.pass(1000);
      // Ten that left do not hold up the one behind them.
      expect(times([last])).toEqual([100]);
      expect(line.accounts()).toEqual({ granted: 2, spent: 2, returned: 0, lost: 0 });
    });

    it('gives back what the last of the queue had booked', async () => {
      start(1, 1);
      several(1);
      const controller = new AbortController();
      line.acquire({ signal: controller.signal });
      expect(line.available()).toBe(-1);
      controller.abort();
      expect(line.available()).toBe(0);
      await clock.pass(0);
      expect(line.accounts()).toEqual({ granted: 2, spent: 1, returned: 1, lost: 0 });
      expect(clock.armed).toBe(0);
    });

    it('lets lapse, and counts as lost, a slot behind which another thread has reserved', async () => {
      start(1, 1);
      several(1);
      const controller = new AbortController();
      line.acquire({ signal: controller.signal });
      const other = new BucketLine(arena, clock, 1);
      const [next] = [other.acquire()];
      controller.abort();
      expect(line.accounts().lost).toBe(1);
      await clock.pass(5000);
      expect(times([next as { atMs: number }])).toEqual([2000]);
    });

    it('before the start takes nothing and leaves no listener', () => {
      start(10, 1);
      const signal = AbortSignal.abort('before');
      expect(line.acquire({ signal })).toMatchObject({ state: 'rejected', error: 'before' });
      expect(line.accounts().granted).toBe(0);
      expect(listeners(signal)).toBe(0);
    });

    it('of 50,000 waiters on one signal takes some steps for each, and no permit', async () => {
      setSettings(arena, { maxWaiters: 50_000 });
      start(10, 1);
      several(1);
      const controller = new AbortController();
      const calls = several(50_000, { signal: controller.signal });
      expect(listeners(controller.signal)).toBe(1);
      const before = line.available();
      let steps = 0;
      const { nowNs } = clock;
      clock.nowNs = () => {
        steps += 1;
        return nowNs.call(clock);
      };
      controller.abort();
      clock.nowNs = nowNs;
      await clock.pass(0);
      expect(steps).toBeLessThanOrEqual(3 * 50_000);
      expect(calls.every(({ state }) => state === 'rejected')).toBe(true);
      expect(listeners(controller.signal)).toBe(0);
      expect(clock.armed).toBe(0);
      expect(before).toBe(-1);
      expect(line.available()).toBe(0);
      expect(line.accounts()).toEqual({ granted: 2, spent: 1, returned: 1, lost: 0 });
      expect(line.held()).toBe(0);
    });

    it('leaves no listener on any path', async () => {
      start(10, 2);
      const { signal } = new AbortController();
      const check = (state: string, call: { readonly state: string }): void => {
        expect([call.state, listeners(signal)]).toEqual([state, 0]);
      };
      check('resolved', line.acquire({ signal }));
      check('resolved', line.acquire({ signal }));
      check('rejected', line.acquire({ signal, maxWaitMs: 0 }));
      check('rejected', line.acquire({ signal, n: 3 }));
      const granted = line.acquire({ signal });
      await clock.pass(100);
      check('resolved', granted);
      line.acquire();
      const late = line.acquire({ signal, maxWaitMs: 250 });
      const other = new BucketLine(arena, clock, 1);
      for (let i = 0; i < 3; i++) other.acquire({ n: 2 });
      await clock.pass(2000);
      check('rejected', late);
      line.tryAcquire(line.available());
      line.acquire();
      const stopped = line.acquire({ signal });
      line.queue.rejectAll('stopped');
      await clock.pass(0);
      check('rejected', stopped);
      line.acquire();
      const released = line.acquire({ signal });
      line.configure(0, 1);
      line.queue.pump();
      await clock.pass(0);
      check('resolved', released);
    });
  });

  describe('a change', () => {
    it('re-plans all who wait, in their order, each time it comes', async () => {
      start(1, 1);
      const calls = several(100);
      await clock.pass(2500);
      expect(line.gone.length).toBe(3);
      line.configure(50, 1);
      line.queue.pump();
      await clock.pass(1000);
      // Half of a second was left for the fourth: half of 20 ms.
      expect(times(calls.slice(3, 6))).toEqual([2510, 2530, 2550]);
      expect(line.gone.length).toBe(53);
      line.configure(0.1, 1);
      line.queue.pump();
      await clock.pass(10_000);
      expect(line.gone.length).toBe(54);
      line.configure(0, 1);
      line.queue.pump();
      await clock.pass(0);
      expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
      expect(line.held()).toBe(0);
      line.configure(1, 1);
      const again = several(2);
      await clock.pass(2000);
      expect(times(again)).toEqual([13_500, 14_500]);
    });

    it.each([[[50, 0.1, 0, 1]], [[50, 0.1, 0, 1, 50, 0.1, 0, 1, 50, 0.1, 0, 1]], [[0.1, 50]]])(
      'that was several ones before the queue heard of it: %j',
      async (rates) => {
        start(1, 1);
        const calls = several(20, { maxWaitMs: 30_000 });
        clock.stall(1500);
        for (const qps of rates) line.configure(qps, 1);
        line.queue.pump();
        await clock.pass(60_000);
        expect(line.held()).toBe(0);
        expect(states(calls)).toEqual(Array(20).fill('resolved'));
        const order = times(calls);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
        expect(line.excess()).toBeLessThanOrEqual(1e-6);
      },
    );

    it('rejects on time who then would wait longer than it may', async () => {
      start(10, 1);
      several(1);
      const calls = several(10, { maxWaitMs: 1000 });
      line.configure(0.1, 1);
      line.queue.pump();
      await clock.pass(5000);
      expect(calls.every(({ state, atMs }) => state === 'rejected' && atMs <= 1000)).toBe(true);
      expect(clock.armed).toBe(0);
    });

    it('that makes a weight impossible rejects it at once, wherever it stands, and the others move on', async () => {
      start(10, 20);
      line.tryAcquire(20);
      const calls = [
        line.acquire({ n: 15 }),
        line.acquire({ n: 5 }),
        line.acquire({ n: 12 }),
        line.acquire({ n: 4 }),
      ];
      line.configure(10, 10);
      line.queue.pump();
      await clock.pass(0);
      expect(states(calls)).toEqual(['rejected', 'pending', 'rejected', 'pending']);
      expect(calls[0]?.error).toBeInstanceOf(RangeError);
      expect(calls[2]?.error).toMatchObject({
        message: expect.stringMatching(/burst of 10, got 12/),
      });
      await clock.pass(5000);
      expect(states(calls)).toEqual(['rejected', 'resolved', 'rejected', 'resolved']);
      expect(line.held()).toBe(0);
      expect(line.excess()).toBeLessThanOrEqual(1e-6);
    });

    it('counts for who comes after it, also before the queue was told', async () => {
      start(0.1, 1);
      several(2);
      line.configure(1000, 1);
      const call = line.acquire({ maxWaitMs: 100 });
      expect(call.state).toBe('pending');
      await clock.pass(1000);
      expect(call.state).toBe('resolved');
      expect(call.atMs).toBeLessThanOrEqual(100);
    });

    it('never hands out a fresh burst to who waits', async () => {
      start(10, 10);
      line.tryAcquire(10);
      const calls = several(30);
      for (const [qps, burst] of [
        [20, 5],
        [10, 10],
        [1000, 1000],
        [10, 10],
      ] as const) {
        line.configure(qps, burst);
        line.queue.pump();
        await clock.pass(0);
      }
      expect(line.gone.length).toBe(1);
      await clock.pass(10_000);
      expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
      expect(line.excess()).toBeLessThanOrEqual(1e-6);
    });
  });

  it('rejects all at the end, gives back what they held, and arms nothing', async () => {
    start(10, 1);
    line.tryAcquire();
    const calls = several(100);
    line.queue.rejectAll('closed');
    await clock.pass(0);
    expect(calls.every(({ error }) => error === 'closed')).toBe(true);
    expect([line.queue.size, clock.armed, line.available(), line.held()]).toEqual([0, 0, 0, 0]);
  });

  it('lets all go when what limited them is not there any more', async () => {
    start(10, 1);
    line.tryAcquire();
    const calls = several(100);
    line.queue.releaseAll();
    await clock.pass(0);
    expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
    expect([line.queue.size, clock.armed, line.held()]).toEqual([0, 0, 0]);
  });
});
