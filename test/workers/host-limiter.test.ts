import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import {
  IllegalStateError,
  RateLimitExceededError,
  RuntimeClosedError,
} from '../../src/shared/errors.js';
import { CALL_STATS, HEADER } from '../../src/shared/layout.js';
import { BAD_NUMBERS } from '../shared/bad-numbers.js';
import { bothKernels, counter } from '../shared/both-kernels.js';
import { HostLines } from './host-line.js';
import { VirtualClock, watched } from './virtual-thread.js';

const BAD_WEIGHTS = [...BAD_NUMBERS, ['0', 0], ['-0', -0], ['1.5', 1.5]] as const;

describe.each(bothKernels())('host limiter on the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  let lines: HostLines;
  beforeEach(() => {
    arena = fresh();
    lines = new HostLines(arena, { qpsPerCore: 10, burst: 5 });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  describe('verbs', () => {
    it('tryAcquire takes what is there and never waits', () => {
      const host = lines.host();
      expect([host.tryAcquire(3), host.tryAcquire(3), host.tryAcquire(2)]).toEqual([
        true,
        false,
        true,
      ]);
      expect([lines.counted('DIRECT'), lines.counted('REFUSED')]).toEqual([5, 1]);
    });

    it('acquire waits in the order of reservations, whatever the thread', async () => {
      const [a, b] = [lines.host(), lines.host()];
      a.tryAcquire(5);
      const calls = [a, b, a].map((host) => watched(lines.clock, () => host.acquire()));
      await lines.clock.pass(1000);
      expect(calls.map(({ atMs }) => atMs)).toEqual([100, 200, 300]);
      expect(calls.map(({ value }) => value?.waitedMs)).toEqual([100, 200, 300]);
      expect(lines.waits('host')).toEqual({ ms: 600, count: 3 });
      expect(lines.held()).toBe(0);
    });

    it('reserve takes in any case and tells the wait', () => {
      const host = lines.host();
      expect([host.reserve(5), host.reserve(1), host.reserve(10)]).toEqual([
        { waitMs: 0 },
        { waitMs: 100 },
        { waitMs: 1100 },
      ]);
      expect(lines.held()).toBe(0);
      expect(() => host.reserve(1e12)).toThrow(/more than a year of debt/);
      expect(lines.available()).toBe(-11);
    });

    it('all refuse more than could ever be granted, and weights that are none', async () => {
      const host = lines.host();
      const burst = /burst of 5, got 6/;
      expect(() => host.tryAcquire(6)).toThrow(burst);
      await expect(host.acquire({ n: 6 })).rejects.toThrow(burst);
      expect(() => host.acquireSync({ n: 6 })).toThrow(burst);
      expect(() => host.tryAcquire(18_446_744_074)).toThrow(RangeError);
      expect(lines.available()).toBe(5);
    });

    it.each(BAD_WEIGHTS)('all refuse a weight of %s and take nothing', async (_, n) => {
      const host = lines.host();
      expect(() => host.tryAcquire(n)).toThrow(/^n must be /);
      expect(() => host.reserve(n)).toThrow(/^n must be /);
      expect(() => host.acquireSync({ n })).toThrow(/^n must be /);
      await expect(host.acquire({ n })).rejects.toThrow(/^n must be /);
      expect(lines.available()).toBe(5);
    });

    it.each(BAD_NUMBERS)('refuse a longest wait of %s and take nothing', async (_, maxWaitMs) => {
      const host = lines.host();
      await expect(host.acquire({ maxWaitMs })).rejects.toThrow(/^maxWaitMs must be /);
      expect(() => host.acquireSync({ maxWaitMs })).toThrow(/^maxWaitMs must be /);
      expect(lines.available()).toBe(5);
    });

    it('refuse what is no option, and take nothing', async () => {
      const host = lines.host();
      const unknown = { weight: 5 } as object;
      const message = /^weight is no option, there are n, maxWaitMs/;
      await expect(host.acquire(unknown)).rejects.toThrow(message);
      expect(() => host.acquireSync(unknown)).toThrow(message);
      const signal = new AbortController().signal;
      expect(() => host.acquireSync({ signal } as object)).toThrow(/^signal is no option/);
      expect(lines.available()).toBe(5);
    });

    it.each([
      ['a string', 'abort'],
      ['an object', {}],
      ['an event target', new EventTarget()],
    ])('refuse %s as a signal', async (_, signal) => {
      const host = lines.host();
      await expect(host.acquire({ signal: signal as AbortSignal })).rejects.toThrow(
        /^signal must be an AbortSignal, got /,
      );
      expect(lines.available()).toBe(5);
    });
  });

  it('waits no longer than the configuration says, where the call does not say it', async () => {
    lines.configure({ waiting: { maxWaitMs: 150 } });
    const host = lines.host();
    host.tryAcquire(5);
    watched(lines.clock, () => host.acquire());
    await expect(host.acquire()).rejects.toThrow(RateLimitExceededError);
    lines.configure({ waiting: { maxWaitMs: 1000 } });
    expect(watched(lines.clock, () => host.acquire()).state).toBe('pending');
    host.rejectAll('end');
    await lines.clock.pass(0);
  });

  it('leaves no listener after 100,000 calls on one signal, whatever became of them', async () => {
    lines.configure({ host: { rpcs: { read: { qpsPerCore: 20_000, burst: 100 } } } });
    const host = lines.host();
    const { signal } = new AbortController();
    let refused = 0;
    for (let i = 0; i < 100; i++) {
      const calls = Array.from({ length: 1000 }, () => host.acquire({ signal, maxWaitMs: 5 }));
      await lines.clock.pass(0.5);
      for (const { status } of await Promise.allSettled([...calls, lines.clock.pass(10)]))
        if (status === 'rejected') refused += 1;
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    }
    expect(refused).toBeGreaterThan(50_000);
    expect(lines.waits('host').count).toBeGreaterThan(5000);
    expect(lines.held()).toBe(0);
  });

  describe('off', () => {
    it('limits nothing and counts nothing, by the switch or by a rate of 0', async () => {
      for (const patch of [
        { host: { enabled: false } },
        { host: { enabled: true, rpcs: { read: { qpsPerCore: 0 } } } },
      ]) {
        lines.configure(patch);
        const host = lines.host();
        expect(Array.from({ length: 100 }, () => host.tryAcquire(1000)).every(Boolean)).toBe(true);
        expect(host.reserve(1e9)).toEqual({ waitMs: 0 });
        expect(await host.acquire({ n: 1e9, maxWaitMs: 0 })).toEqual({ waitedMs: 0 });
        expect(host.acquireSync({ n: 1e9 })).toEqual({ waitedMs: 0 });
      }
      expect([lines.counted('DIRECT'), lines.counted('RESERVED')]).toEqual([0, 0]);
    });

    it('lets go who waits when it is switched, and begins full when it is switched back', async () => {
      const host = lines.host();
      host.tryAcquire(5);
      const calls = Array.from({ length: 20 }, () => watched(lines.clock, () => host.acquire()));
      lines.configure({ host: { enabled: false } });
      await lines.clock.pass(0);
      expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
      expect(lines.clock.armed).toBe(0);
      lines.configure({ host: { enabled: true } });
      expect(lines.available()).toBe(5);
      expect(lines.held()).toBe(0);
    });
  });

  describe('dry run', () => {
    beforeEach(() => lines.configure({ host: { dryRun: true } }));

    it('charges the shadow bucket, records the wait that it would have asked for, and lets the call go', async () => {
      const host = lines.host();
      for (let i = 0; i < 7; i++) expect(await host.acquire()).toEqual({ waitedMs: 0 });
      expect(lines.available(true)).toBe(-2);
      expect(lines.available()).toBeNaN();
      expect(lines.waits('dryRun')).toEqual({ ms: 300, count: 2 });
      expect(lines.waits('host').count).toBe(0);
      expect(['DIRECT', 'RESERVED', 'SPENT'].map((c) => lines.counted(c as 'SPENT'))).toEqual([
        0, 0, 0,
      ]);
    });

    it('goes along with every verb', () => {
      const host = lines.host();
      expect(host.reserve(5)).toEqual({ waitMs: 0 });
      expect(host.tryAcquire(1)).toBe(true);
      expect(host.tryAcquire(1000)).toBe(true);
      expect(host.acquireSync({ n: 2 })).toEqual({ waitedMs: 0 });
      expect(lines.waits('dryRun').count).toBe(3);
    });

    it('would have refused, and so takes nothing, what waits too long; it records that wait all the same', async () => {
      const host = lines.host();
      host.reserve(15);
      await host.acquire({ maxWaitMs: 10 });
      expect(lines.available(true)).toBe(-10);
      expect(lines.waits('dryRun')).toEqual({ ms: 1000 + 1100, count: 2 });
    });

    it('lets go who waits when it is switched on, and limits from a full bucket when it is switched off', async () => {
      lines.configure({ host: { dryRun: false } });
      const host = lines.host();
      host.tryAcquire(5);
      const call = watched(lines.clock, () => host.acquire());
      lines.configure({ host: { dryRun: true } });
      await lines.clock.pass(0);
      expect(call.state).toBe('resolved');
      expect(lines.held()).toBe(0);
      lines.configure({ host: { dryRun: false } });
      expect(host.tryAcquire(5)).toBe(true);
      expect(host.tryAcquire(1)).toBe(false);
    });
  });

  describe('coarse clock', () => {
    const MS = 1e6;
    beforeEach(() =>
      lines.configure({
        host: { rpcs: { read: { qpsPerCore: 1000, burst: 5, clock: 'coarse' } } },
      }),
    );
    const maxLagMs = (): number => (arena.f64[HEADER.MAX_LAG >>> 3] as number) / MS;

    it('decides by the published time', () => {
      const limiter = lines.bound();
      const precise = vi.spyOn(lines.clock, 'nowNs');
      arena.kernel.publishClock(1 * MS);
      expect(Array.from({ length: 5 }, () => limiter.tryAcquire()).every(Boolean)).toBe(true);
      expect(precise).not.toHaveBeenCalled();
    });

    it('never refuses by it alone: the precise time decides, and is published', () => {
      const limiter = lines.bound();
      lines.clock.stall(1);
      arena.kernel.publishClock(1 * MS);
      while (arena.kernel.tryAcquireCoarse(arena.layout.bucket(0, false), 8192) === 1) {}
      lines.clock.stall(3);
      // Three permits have come since the coarse clock moved.
      expect([1, 2, 3].map(() => limiter.tryAcquire())).toEqual([true, true, true]);
      expect(arena.kernel.clock()).toBe(4 * MS);
      expect(limiter.tryAcquire()).toBe(false);
      expect(lines.counted('REFUSED')).toBe(1);
    });

    it('reads the precise clock where the coarse one has no time, and does not set it going', () => {
      const limiter = lines.bound();
      lines.clock.stall(5);
      expect(limiter.tryAcquire()).toBe(true);
      expect(arena.kernel.clock()).toBe(0);
    });

    it('retires a coarse clock that is more than 20 ms old, and notes the lag', () => {
      const limiter = lines.bound();
      arena.kernel.publishClock(1 * MS);
      while (arena.kernel.tryAcquireCoarse(arena.layout.bucket(0, false), 8192) === 1) {}
      lines.clock.stall(21);
      expect(limiter.tryAcquire()).toBe(true);
      expect(arena.kernel.clock()).toBe(1 * MS + 20 * MS);
      while (arena.kernel.tryAcquireCoarse(arena.layout.bucket(0, false), 8192) === 1) {}
      lines.clock.stall(20.1);
      expect(limiter.tryAcquire()).toBe(true);
      expect(arena.kernel.clock()).toBe(0);
      expect(maxLagMs()).toBeCloseTo(20.1);
    });

    it('takes weights by the precise clock', () => {
      const limiter = lines.bound();
      arena.kernel.publishClock(1);
      const precise = vi.spyOn(lines.clock, 'nowNs');
      expect(limiter.tryAcquire(2)).toBe(true);
      expect(precise).toHaveBeenCalled();
    });

    it.each(BAD_WEIGHTS)('refuses a weight of %s', (_, n) => {
      arena.kernel.publishClock(1);
      expect(() => lines.bound().tryAcquire(n)).toThrow(/^n must be /);
    });

    it('follows the configuration from one clock to the other', () => {
      const limiter = lines.bound();
      arena.kernel.publishClock(1);
      lines.configure({ host: { rpcs: { read: { clock: 'precise' } } } });
      const precise = vi.spyOn(lines.clock, 'nowNs');
      limiter.tryAcquire();
      expect(precise).toHaveBeenCalledTimes(1);
      lines.configure({ host: { rpcs: { read: { clock: 'coarse' } } } });
      precise.mockClear();
      limiter.tryAcquire();
      expect(precise).not.toHaveBeenCalled();
    });

    it('grants at most burst + qps x (elapsed + lag)', () => {
      const limiter = lines.bound();
      let granted = 0;
      let lag = 0;
      for (let ms = 1; ms <= 500; ms++) {
        lines.clock.stall(1);
        if (ms % 7 === 0) arena.kernel.publishClock(ms * MS);
        else lag = Math.max(lag, ms % 7);
        while (limiter.tryAcquire()) granted += 1;
      }
      expect(granted).toBeLessThanOrEqual(5 + 500 + lag);
      expect(granted).toBeGreaterThanOrEqual(500);
    });

    it('is closed with the runtime', () => {
      const limiter = lines.bound();
      arena.kernel.publishClock(1);
      arena.kernel.close();
      expect(() => limiter.tryAcquire()).toThrow(RuntimeClosedError);
    });
  });

  describe('a closed runtime', () => {
    it('refuses every verb with RuntimeClosedError', async () => {
      const host = lines.host();
      arena.kernel.close();
      expect(() => host.tryAcquire(1)).toThrow(RuntimeClosedError);
      expect(() => host.reserve(1)).toThrow(RuntimeClosedError);
      expect(() => host.acquireSync()).toThrow(RuntimeClosedError);
      await expect(host.acquire()).rejects.toThrow(RuntimeClosedError);
      expect(lines.counted('RESERVED')).toBe(0);
    });

    it('refuses them also where nothing is limited, or a dry run is made', async () => {
      for (const patch of [
        { host: { enabled: false } },
        { host: { enabled: true, dryRun: true } },
      ]) {
        lines.configure(patch);
        const host = lines.host();
        arena.kernel.close();
        expect(() => host.tryAcquire(1)).toThrow(RuntimeClosedError);
        await expect(host.acquire()).rejects.toThrow(RuntimeClosedError);
        arena.i32[0] = 0;
      }
    });

    it('rejects who waits when the thread leaves, with the reason, and then refuses', async () => {
      const host = lines.host();
      host.tryAcquire(5);
      const calls = [1, 2, 3].map(() => watched(lines.clock, () => host.acquire()));
      const reason = new RuntimeClosedError('the thread has detached');
      host.close(reason);
      await lines.clock.pass(0);
      expect(calls.map(({ error }) => error)).toEqual([reason, reason, reason]);
      expect(() => host.tryAcquire(1)).toThrow(reason);
      expect(() => host.reserve(1)).toThrow(reason);
      await expect(host.acquire()).rejects.toThrow(reason);
      expect([lines.held(), host.waiting, lines.clock.armed]).toEqual([0, 0, 0]);
    });
  });

  describe('enter', () => {
    it('holds for a call that has not started: spent or given back, and never both', () => {
      const host = lines.host();
      const [spent, returned] = [1, 2].map(() => host.enter(2, 0, undefined));
      if (spent instanceof Promise || returned instanceof Promise) throw new Error('it waits');
      if (spent === undefined || returned === undefined) throw new Error('nothing');
      host.spend(spent);
      host.cancel(returned);
      expect(lines.available()).toBe(3);
      expect([lines.counted('SPENT'), lines.counted('RETURNED'), lines.held()]).toEqual([2, 2, 0]);
    });

    it('does not overtake who waits in the thread, though permits are there', async () => {
      const host = lines.host();
      host.tryAcquire(5);
      const heavy = watched(lines.clock, () => host.acquire({ n: 5 }));
      lines.clock.stall(600);
      const light = watched(lines.clock, () => host.acquire());
      expect(light.state).toBe('pending');
      await lines.clock.pass(1000);
      expect(heavy.atMs).toBeLessThanOrEqual(light.atMs);
    });

    it('takes nothing for a signal that has aborted before', () => {
      const host = lines.host();
      expect(() => host.enter(1, 0, AbortSignal.abort('before'))).toThrow('before');
      expect(lines.available()).toBe(5);
    });
  });

  describe('acquireSync', () => {
    /** Blocks in virtual time; `during` runs at each block, before its end. */
    const block = (during: (timeoutMs: number) => number | undefined = () => undefined): void => {
      vi.spyOn(Atomics, 'wait').mockImplementation((_words, _index, _value, timeout) => {
        lines.clock.stall(during(timeout as number) ?? (timeout as number));
        return 'timed-out';
      });
    };

    it('blocks until the permit is there, and never returns early', () => {
      const host = lines.host();
      host.tryAcquire(5);
      const waiting = (): number =>
        counter(arena, arena.layout.thread(0).calls(0), CALL_STATS.HOST_WAITING);
      block((timeoutMs) => {
        expect(waiting()).toBe(1);
        return Math.max(timeoutMs - 0.5, timeoutMs / 2);
      });
      expect(host.acquireSync().waitedMs).toBeGreaterThanOrEqual(100);
      expect(host.acquireSync().waitedMs).toBeLessThan(101);
      expect(lines.held()).toBe(0);
      expect(lines.waits('host').count).toBe(2);
      expect(waiting()).toBe(0);
    });

    it('is refused on the main thread, and while the thread has waiters', async () => {
      expect(() => lines.host({ isMainThread: true }).acquireSync()).toThrow(IllegalStateError);
      const host = lines.host();
      host.tryAcquire(5);
      const call = watched(lines.clock, () => host.acquire());
      expect(() => host.acquireSync()).toThrow(/overtake 1 waiters/);
      await lines.clock.pass(200);
      expect(call.state).toBe('resolved');
    });

    it('refuses at once, taking nothing, what would wait longer than it may', () => {
      const host = lines.host();
      host.tryAcquire(5);
      expect(() => host.acquireSync({ maxWaitMs: 99 })).toThrow(RateLimitExceededError);
      expect(lines.available()).toBe(0);
    });

    it('follows a change of the rate while it blocks', () => {
      const host = lines.host();
      host.tryAcquire(5);
      let blocks = 0;
      block(() => {
        blocks += 1;
        if (blocks > 1) return undefined;
        lines.clock.stall(50);
        lines.configure({ host: { rpcs: { read: { qpsPerCore: 1000 } } } }, false);
        return 0;
      });
      // Half of the wait at 10/s, the rest at 1000/s.
      expect(host.acquireSync().waitedMs).toBeCloseTo(50.5, 1);
    });

    it.each([
      ['off', { host: { enabled: false } }],
      ['a dry run', { host: { dryRun: true } }],
    ])('goes at once when the limit turns %s while it blocks', (_, patch) => {
      const host = lines.host();
      host.tryAcquire(5);
      block(() => {
        lines.configure(patch, false);
        return 20;
      });
      expect(host.acquireSync().waitedMs).toBe(20);
      expect(lines.held()).toBe(0);
    });

    it('is rejected when its weight becomes impossible while it blocks', () => {
      const host = lines.host();
      host.tryAcquire(5);
      block(() => {
        lines.configure({ host: { rpcs: { read: { burst: 3 } } } }, false);
        return 20;
      });
      expect(() => host.acquireSync({ n: 4 })).toThrow(/burst of 3, got 4/);
      expect(lines.held()).toBe(0);
    });

    it('is rejected at its deadline when a change makes it wait too long', () => {
      const host = lines.host();
      host.tryAcquire(5);
      let blocks = 0;
      block(() => {
        if (blocks++ > 0) return undefined;
        lines.configure({ host: { rpcs: { read: { qpsPerCore: 0.1 } } } }, false);
        return 0;
      });
      expect(() => host.acquireSync({ maxWaitMs: 300 })).toThrow(RateLimitExceededError);
      expect(lines.clock.nowMs).toBeGreaterThanOrEqual(300);
      expect(lines.clock.nowMs).toBeLessThan(302);
      expect(lines.held()).toBe(0);
    });

    it('ends with RuntimeClosedError when the runtime closes while it blocks', () => {
      const host = lines.host();
      host.tryAcquire(5);
      block(() => {
        arena.kernel.close();
        Atomics.add(arena.i32, HEADER.CHANGES >>> 2, 1);
        return 1;
      });
      expect(() => host.acquireSync()).toThrow(RuntimeClosedError);
      expect(lines.held()).toBe(0);
    });
  });

  it('is never early, and in order, with timers up to 1 ms early', async () => {
    const clock = new VirtualClock({ startMs: 5, lateMs: () => -0.9 });
    const strict = new HostLines(fresh(), { qpsPerCore: 100, burst: 1 }, clock);
    const host = strict.host();
    const calls = Array.from({ length: 30 }, () => watched(clock, () => host.acquire()));
    await clock.pass(400);
    for (const [i, { atMs }] of calls.entries()) expect(atMs).toBeGreaterThanOrEqual(5 + i * 10);
  });
});
