import { describe, expect, it } from 'vitest';
import { createActorSystem } from '../../../src/actors/core/actor-system.js';
import type { ActorContext, Behavior, TimerId } from '../../../src/actors/core/behavior.js';
import { createTestSystem } from '../../../src/testing/test-system.js';

type Log = { atMs: number; message: string }[];

/** Logs what it is sent and when; `begin` arms its timers. */
function logging(
  log: Log,
  begin: (context: ActorContext<string>) => void,
): Behavior<undefined, string> {
  return {
    initialState: () => undefined,
    receive: (state, message, context) => {
      log.push({ atMs: context.nowMs(), message });
      return state;
    },
    onSignal: (state, { kind }, context) => {
      if (kind === 'started') begin(context);
      return state;
    },
  };
}

describe('after', () => {
  it('fires once, in order of deadline, then of arming', () => {
    const { system, time } = createTestSystem();
    const log: Log = [];
    system.spawn(
      logging(log, (context) => {
        context.after(20, 'c');
        context.after(10, 'a');
        context.after(10, 'b');
        context.after(0, 'now');
      }),
      { name: 'log' },
    );
    time.advanceTo(1000);
    expect(log).toEqual([
      { atMs: 0, message: 'now' },
      { atMs: 10, message: 'a' },
      { atMs: 10, message: 'b' },
      { atMs: 20, message: 'c' },
    ]);
    expect(system.stats().timers).toBe(0);
  });

  it('never fires early, whatever fraction of a millisecond the clock stands at', () => {
    const { system, time } = createTestSystem();
    const log: Log = [];
    time.advanceTo(0.9);
    system.spawn(
      logging(log, (context) => context.after(10.3, 'due')),
      { name: 'log' },
    );
    time.advanceTo(100);
    expect(log).toHaveLength(1);
    expect(log[0]?.atMs).toBeGreaterThanOrEqual(11.2);
    expect(log[0]?.atMs).toBeLessThanOrEqual(12.2);
  });

  it('of years fires on time and wakes nobody in between', () => {
    const { system, time } = createTestSystem();
    const log: Log = [];
    const dayMs = 86_400_000;
    system.spawn(
      logging(log, (context) => context.after(60 * dayMs, 'late')),
      { name: 'log' },
    );
    time.settle();
    expect(time.nextDeadlineMs).toBe(60 * dayMs);
    time.advanceTo(60 * dayMs - 1);
    expect(log).toEqual([]);
    time.advanceTo(60 * dayMs);
    expect(log).toHaveLength(1);
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 2 ** 54, '5', null])(
    'a delay of %s fails the actor that asked for it, as an interval of it does',
    (delay) => {
      for (const verb of ['after', 'every'] as const) {
        const { system, time } = createTestSystem();
        const errors: unknown[] = [];
        system.failures.subscribe(({ error }) => errors.push(error));
        system.spawn(
          logging([], (context) => context[verb](delay as number, 'x')),
          {
            name: 'log',
            supervision: { onFailure: 'stop' },
          },
        );
        time.settle();
        expect(errors).toEqual([expect.any(RangeError)]);
        expect(system.stats().timers).toBe(0);
      }
    },
  );

  it('an interval below 1 ms is refused: it would be a hot loop', () => {
    const { system, time } = createTestSystem();
    const errors: Error[] = [];
    system.failures.subscribe(({ error }) => errors.push(error as Error));
    system.spawn(
      logging([], (context) => context.every(0.5, 'x')),
      {
        name: 'log',
        supervision: { onFailure: 'stop' },
      },
    );
    time.settle();
    expect(errors[0]?.message).toBe(
      `intervalMs must be a number from 1 to ${Number.MAX_SAFE_INTEGER}, got 0.5`,
    );
  });
});

describe('every', () => {
  it('keeps its phase', () => {
    const { system, time } = createTestSystem();
    const log: Log = [];
    system.spawn(
      logging(log, (context) => context.every(33.5, 'tick')),
      { name: 'log' },
    );
    time.advanceTo(340);
    expect(log.map(({ atMs }) => atMs)).toEqual([34, 67, 101, 134, 168, 201, 235, 268, 302, 335]);
  });

  it('after a stall fires once and goes on in phase: what was missed is skipped', () => {
    const { system, time } = createTestSystem();
    const log: Log = [];
    system.spawn(
      logging(log, (context) => context.every(100, 'tick')),
      { name: 'log' },
    );
    time.advanceTo(250);
    time.stallTo(10_040);
    time.advanceTo(10_250);
    expect(log.map(({ atMs }) => atMs)).toEqual([100, 200, 10_040, 10_100, 10_200]);
  });
});

describe('a timer that repeats', () => {
  it('has at most one message waiting, however long its actor does not get its turn', () => {
    const runs: (() => void)[] = [];
    let nowMs = 0;
    let wake = (): void => {};
    const system = createActorSystem({
      // A slow machine: 150 ms pass whenever somebody looks.
      clock: () => {
        nowMs += 150;
        return nowMs;
      },
      schedule: (run) => runs.push(run),
      timerDriver: {
        arm: (_delayMs, wakeUp) => {
          wake = wakeUp;
        },
        disarm: () => {},
      },
    });
    const log: Log = [];
    system.spawn(
      logging(log, (context) => context.every(100, 'tick')),
      { name: 'log' },
    );
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) run();
    for (let i = 0; i < 5; i += 1) wake();
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) run();
    expect(log).toHaveLength(1);
  });
});

describe('cancel', () => {
  it('keeps a timer from firing, even when its message is in the mailbox already', () => {
    const { system, time } = createTestSystem();
    const seen: string[] = [];
    const behavior: Behavior<TimerId, string> = {
      initialState: () => 0,
      receive: (timer, message, context) => {
        seen.push(message);
        context.cancel(timer);
        return timer;
      },
      onSignal: (timer, { kind }, context) => {
        if (kind !== 'started') return timer;
        context.after(10, 'first');
        return context.after(10, 'second');
      },
    };
    system.spawn(behavior, { name: 'canceller' });
    time.advanceTo(100);
    expect(seen).toEqual(['first']);
    expect(system.stats().timers).toBe(0);
    expect(time.pendingTimers).toBe(0);
  });

  it('of a timer of another actor, or of none, does nothing', () => {
    const { system, time } = createTestSystem();
    const log: Log = [];
    let timer: TimerId = 0;
    system.spawn(
      logging(log, (context) => {
        timer = context.after(10, 'mine');
      }),
      { name: 'owner' },
    );
    time.settle();
    system.spawn(
      logging(log, (context) => {
        context.cancel(timer);
        context.cancel(12_345);
      }),
      { name: 'thief' },
    );
    time.advanceTo(10);
    expect(log).toEqual([{ atMs: 10, message: 'mine' }]);
  });
});

describe('the end of an actor', () => {
  it('cancels its timers and leaves the driver disarmed', () => {
    const { system, time } = createTestSystem();
    const log: Log = [];
    const ref = system.spawn(
      logging(log, (context) => {
        context.every(10, 'tick');
        context.after(1000, 'late');
      }),
      { name: 'log' },
    );
    time.advanceTo(15);
    system.stopActor(ref);
    time.advanceTo(5000);
    expect(log).toHaveLength(1);
    expect(system.stats().timers).toBe(0);
    expect(time.pendingTimers).toBe(0);
  });
});
