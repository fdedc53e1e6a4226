import { describe, expect, it } from 'vitest';
import type { Behavior } from '../../../src/actors/core/behavior.js';
import { IllegalStateError } from '../../../src/shared/errors.js';
import { createTestSystem } from '../../../src/testing/test-system.js';
import { countingBehavior } from './counting-behavior.js';

const restless: Behavior<undefined, 'again'> = {
  initialState: () => undefined,
  receive: (state, _message, context) => {
    context.tell(context.self, 'again');
    return state;
  },
};

describe('system.stop', () => {
  it('lets the messages under way be handled, then ends all actors and leaves nothing', async () => {
    const { system, time } = createTestSystem();
    const log: string[] = [];
    const ref = system.spawn(countingBehavior(log), { name: 'sum' });
    for (let i = 0; i < 500; i += 1) system.tell(ref, { kind: 'add', n: 1 });
    const stopped = system.stop();
    time.settle();
    expect(await stopped).toEqual({ drained: true });
    expect(log.at(-1)).toBe('stopped at 500');
    expect(system.stats()).toMatchObject({ actors: 0, timers: 0, asks: 0 });
    expect(time.pendingTimers).toBe(0);
  });

  it('does not wait for timers, and disarms them', async () => {
    const { system, time } = createTestSystem();
    const patient: Behavior<undefined, 'later'> = {
      initialState: () => undefined,
      receive: (state) => state,
      onSignal: (state, { kind }, context) => {
        if (kind === 'started') context.every(10, 'later');
        return state;
      },
    };
    system.spawn(patient, { name: 'patient' });
    time.settle();
    expect(time.pendingTimers).toBe(1);
    const stopped = system.stop();
    time.settle();
    expect(await stopped).toEqual({ drained: true });
    expect(time.pendingTimers).toBe(0);
  });

  it('ends at its deadline when actors never come to rest, and counts what was left', async () => {
    const { system, time } = createTestSystem({ runBudget: 4 });
    const ref = system.spawn(restless, { name: 'restless' });
    system.tell(ref, 'again');
    const stopped = system.stop({ deadlineMs: 0 });
    time.settle();
    expect(await stopped).toEqual({ drained: false });
    expect(system.stats()).toMatchObject({ actors: 0, deadLetters: { stopped: 1 } });
  });

  it('takes nothing from outside meanwhile or after: dead letters', async () => {
    const { system, time } = createTestSystem();
    const ref = system.spawn(countingBehavior(), { name: 'sum' });
    time.settle();
    system.tell(ref, { kind: 'add', n: 1 });
    const stopped = system.stop();
    expect(system.tell(ref, { kind: 'add', n: 1 })).toBe('dead');
    expect(() => system.spawn(countingBehavior(), { name: 'late' })).toThrow(IllegalStateError);
    time.settle();
    await stopped;
    expect(system.tell(ref, { kind: 'add', n: 1 })).toBe('dead');
    expect(system.stats().deadLetters['system-stopping']).toBe(2);
  });

  it('is idempotent', async () => {
    const { system, time } = createTestSystem();
    const first = system.stop();
    expect(system.stop()).toBe(first);
    time.settle();
    await first;
    expect(system.stop()).toBe(first);
  });

  it('of a system that never did anything has nothing to wait for', async () => {
    const { system, time } = createTestSystem();
    const stopped = system.stop();
    time.settle();
    expect(await stopped).toEqual({ drained: true });
    expect(time.nowMs).toBe(0);
  });

  it('refuses a deadline that is no number', () => {
    const { system } = createTestSystem();
    expect(() => system.stop({ deadlineMs: Number.NaN })).toThrow(RangeError);
  });
});
