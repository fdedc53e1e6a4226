import { describe, expect, it } from 'vitest';
import type { ActorRef } from '../../../src/actors/core/actor-ref.js';
import { createActorSystem } from '../../../src/actors/core/actor-system.js';
import type { Behavior } from '../../../src/actors/core/behavior.js';
import { createTestSystem } from '../../../src/testing/test-system.js';

const idleDriver = { arm: () => {}, disarm: () => {} };

function logging(log: string[], name: string): Behavior<undefined, number> {
  return {
    initialState: () => undefined,
    receive: (state, n) => {
      log.push(`${name}${n}`);
      return state;
    },
  };
}

describe('an actor with much to do', () => {
  it('lets the others have a turn after each batch', () => {
    const { system, time } = createTestSystem({ batch: 2 });
    const log: string[] = [];
    const busy = system.spawn(logging(log, 'busy'), { name: 'busy' });
    const calm = system.spawn(logging(log, 'calm'), { name: 'calm' });
    time.settle();
    for (let n = 1; n <= 5; n += 1) system.tell(busy, n);
    system.tell(calm, 1);
    time.settle();
    expect(log).toEqual(['busy1', 'busy2', 'calm1', 'busy3', 'busy4', 'busy5']);
  });

  it('that sends to itself for ever does not keep the others from their messages', () => {
    const { system, time } = createTestSystem({ batch: 4, runBudget: 16 });
    const log: string[] = [];
    const selfish = system.spawn<number, 'again'>(
      {
        initialState: () => 0,
        receive: (turns, _message, context) => {
          if (turns < 10_000) context.tell(context.self, 'again');
          return turns + 1;
        },
      },
      { name: 'selfish' },
    );
    const calm = system.spawn(logging(log, 'calm'), { name: 'calm' });
    system.tell(selfish, 'again');
    system.tell(calm, 1);
    expect(() => time.settle()).not.toThrow();
    expect(log).toEqual(['calm1']);
  });
});

describe('a scheduled run', () => {
  it('ends after its budget, so that the thread can do something else', () => {
    const runs: (() => void)[] = [];
    const system = createActorSystem({
      clock: () => 0,
      schedule: (run) => runs.push(run),
      timerDriver: idleDriver,
      batch: 8,
      runBudget: 20,
    });
    const log: string[] = [];
    const ref = system.spawn(logging(log, ''), { name: 'log' });
    for (let n = 0; n < 100; n += 1) system.tell(ref, n);
    expect(runs).toHaveLength(1);
    const lengths: number[] = [];
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
      const before = log.length;
      run();
      lengths.push(log.length - before);
      expect(runs.length).toBeLessThanOrEqual(1);
    }
    expect(log).toHaveLength(100);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(20);
  });

  it('is asked for only when there is work', () => {
    let asked = 0;
    const system = createActorSystem({
      clock: () => 0,
      schedule: (run) => {
        asked += 1;
        run();
      },
      timerDriver: idleDriver,
    });
    const ref = system.spawn(logging([], ''), { name: 'log' });
    const before = asked;
    system.tell(ref, 1);
    expect(asked).toBe(before + 1);
  });

  it('may come at once: a long exchange neither nests nor overflows the stack', () => {
    const system = createActorSystem({
      clock: () => 0,
      schedule: (run) => run(),
      timerDriver: idleDriver,
      runBudget: 1,
    });
    interface Ball {
      readonly left: number;
      readonly from: ActorRef<Ball>;
    }
    let returned = 0;
    const player: Behavior<undefined, Ball> = {
      initialState: () => undefined,
      receive: (state, { left, from }, context) => {
        returned += 1;
        if (left > 0) context.tell(from, { left: left - 1, from: context.self });
        return state;
      },
    };
    const one = system.spawn(player, { name: 'one' });
    const two = system.spawn(player, { name: 'two' });
    system.tell(one, { left: 100_000, from: two });
    expect(returned).toBe(100_001);
  });
});
