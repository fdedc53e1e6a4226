import { describe, expect, it } from 'vitest';
import type { Behavior } from '../../src/actors/core/behavior.js';
import { RunawayError } from '../../src/testing/runaway-error.js';
import { createTestSystem } from '../../src/testing/test-system.js';
import { createVirtualTime } from '../../src/testing/virtual-time.js';

describe('virtual time', () => {
  it('stands still until it is told to move', () => {
    const time = createVirtualTime({ startMs: 5 });
    time.settle();
    expect(time.clock()).toBe(5);
  });

  it('visits every deadline in order and lets everything there come to rest before it goes on', () => {
    const time = createVirtualTime();
    const log: string[] = [];
    const note = (text: string): void => {
      log.push(`${time.nowMs}: ${text}`);
    };
    time.setTimer(20, () => note('late'));
    time.setTimer(10, () => {
      note('first');
      time.schedule(() => note('its run'));
      time.setTimer(0, () => note('its timer'));
    });
    time.setTimer(10, () => note('second'));
    time.advanceTo(15);
    expect(log).toEqual(['10: first', '10: its run', '10: second', '10: its timer']);
    time.advanceBy(5);
    expect(log.at(-1)).toBe('20: late');
    expect(time.pendingTimers).toBe(0);
  });

  it('cancels a timer that has not fired', () => {
    const time = createVirtualTime();
    const cancel = time.setTimer(10, () => expect.unreachable());
    cancel();
    cancel();
    time.advanceTo(20);
  });

  it('a stall runs late, at one instant, what was due on the way', () => {
    const time = createVirtualTime();
    const log: number[] = [];
    time.setTimer(10, () => log.push(time.nowMs));
    time.setTimer(20, () => log.push(time.nowMs));
    time.stallTo(500);
    expect(log).toEqual([500, 500]);
  });

  it('advances to quiescence through timers years away', () => {
    const time = createVirtualTime();
    const yearMs = 365 * 86_400_000;
    let fired = 0;
    time.setTimer(1, () => time.setTimer(yearMs, () => (fired += 1)));
    time.advanceToQuiescence(2 * yearMs);
    expect(fired).toBe(1);
    expect(time.nowMs).toBe(yearMs + 1);
  });

  it('only goes forward', () => {
    const time = createVirtualTime({ startMs: 10 });
    for (const atMs of [9, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => time.advanceTo(atMs)).toThrow(
        `time only goes forward: it is 10 ms, got ${atMs}`,
      );
      expect(() => time.stallTo(atMs)).toThrow(RangeError);
    }
    expect(() => time.setTimer(Number.NaN, () => {})).toThrow(RangeError);
  });

  it('must not be moved from within a run', () => {
    const time = createVirtualTime();
    time.schedule(() => time.advanceBy(10));
    expect(() => time.settle()).toThrow('virtual time must not be moved from within a run');
  });

  it.each([{ startMs: -1 }, { startMs: Number.NaN }, { maxRunsPerInstant: 0 }])(
    'refuses %o',
    (options) => {
      expect(() => createVirtualTime(options)).toThrow(RangeError);
    },
  );
});

describe('a runaway', () => {
  const pingPong: Behavior<undefined, 'again'> = {
    initialState: () => undefined,
    receive: (state, _message, context) => {
      context.tell(context.self, 'again');
      return state;
    },
  };

  it('of messages without end is named, not waited for', () => {
    const { system, time } = createTestSystem({ runBudget: 10 });
    const ref = system.spawn(pingPong, { name: 'endless' });
    system.tell(ref, 'again');
    expect(() => time.settle()).toThrow(RunawayError);
  });

  it('of timers at one instant is named too', () => {
    const time = createVirtualTime({ maxRunsPerInstant: 50 });
    const again = (): void => void time.setTimer(0, again);
    again();
    expect(() => time.settle()).toThrow('no rest at 0 ms: more than 50 runs in one instant');
  });

  it('of a timer that repeats for ever ends the way to quiescence', () => {
    const time = createVirtualTime();
    const again = (): void => void time.setTimer(100, again);
    again();
    expect(() => time.advanceToQuiescence(1000)).toThrow(RunawayError);
    expect(time.nowMs).toBe(1000);
  });

  it('across promises is named', async () => {
    const time = createVirtualTime({ maxRunsPerInstant: 50 });
    const again = (): void => void Promise.resolve().then(() => time.schedule(again));
    again();
    await expect(time.settleAsync()).rejects.toBeInstanceOf(RunawayError);
  });

  it('is none: many messages at one instant, as long as they end', () => {
    const { system, time, probe } = createTestSystem();
    const box = probe<number>();
    for (let i = 0; i < 20; i += 1) {
      for (let n = 0; n < 500; n += 1) system.tell(box.ref, n);
      time.settle();
    }
    expect(box.takeMessages()).toHaveLength(10_000);
  });
});

describe('promises', () => {
  it('take part in an asynchronous advance, at the deadline that resolves them', async () => {
    const time = createVirtualTime();
    const log: string[] = [];
    const sleep = (ms: number): Promise<void> =>
      new Promise((resolve) => time.setTimer(ms, resolve));
    const work = (async () => {
      for (let i = 0; i < 3; i += 1) {
        await sleep(10);
        log.push(`${time.nowMs}`);
      }
    })();
    await time.advanceToAsync(100);
    await work;
    expect(log).toEqual(['10', '20', '30']);
    expect(time.nowMs).toBe(100);
  });
});
