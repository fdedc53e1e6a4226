import { describe, expect, it } from 'vitest';
import { createTimerBehavior } from '../../../src/actors/timer/timer-actor.js';
import { createBehaviorKit } from '../../../src/testing/behavior-kit.js';

function createKit() {
  const armed: (number | 'disarmed')[] = [];
  const fired: number[] = [];
  const kit = createBehaviorKit(
    createTimerBehavior({
      driver: { arm: (delayMs) => armed.push(delayMs), disarm: () => armed.push('disarmed') },
      fire: (id) => fired.push(id),
      wake: () => {},
    }),
  );
  return { kit, armed, fired };
}

describe('the timer actor', () => {
  it('arms the driver for the next deadline only, and only when that changes', () => {
    const { kit, armed } = createKit();
    kit.run({ kind: 'schedule', id: 1, dueMs: 3000, intervalMs: null });
    kit.run({ kind: 'schedule', id: 2, dueMs: 5000, intervalMs: null });
    kit.run({ kind: 'schedule', id: 3, dueMs: 1000.5, intervalMs: null });
    expect(armed).toEqual([3000, 1001]);
  });

  it('disarms the driver when nothing waits any more', () => {
    const { kit, armed, fired } = createKit();
    kit.run({ kind: 'schedule', id: 1, dueMs: 50, intervalMs: null });
    kit.run({ kind: 'cancel', id: 1 });
    expect(armed).toEqual([50, 'disarmed']);
    kit.setNow(100);
    kit.run({ kind: 'wake' });
    expect(fired).toEqual([]);
  });

  it('woken early fires nothing and arms again for the rest', () => {
    const { kit, armed, fired } = createKit();
    kit.run({ kind: 'schedule', id: 1, dueMs: 10, intervalMs: null });
    kit.setNow(9.2);
    kit.run({ kind: 'wake' });
    expect(fired).toEqual([]);
    expect(armed).toEqual([10, expect.closeTo(0.8)]);
  });

  it('after a stall of 10 s fires all that was due, in order, in one wake-up', () => {
    const { kit, fired } = createKit();
    for (const id of [5, 3, 9, 1]) {
      kit.run({ kind: 'schedule', id, dueMs: id * 1000, intervalMs: null });
    }
    kit.setNow(10_000);
    kit.run({ kind: 'wake' });
    expect(fired).toEqual([1, 3, 5, 9]);
  });

  it('repeats in phase and skips what a stall has missed', () => {
    const { kit, armed, fired } = createKit();
    kit.run({ kind: 'schedule', id: 1, dueMs: 100, intervalMs: 100 });
    kit.setNow(1234.5);
    kit.run({ kind: 'wake' });
    expect(fired).toEqual([1]);
    expect(armed.at(-1)).toBe(1300 - 1234.5);
  });

  it('sends no message and has no effect but on its ports', () => {
    const { kit } = createKit();
    kit.run({ kind: 'schedule', id: 1, dueMs: 10, intervalMs: 10 });
    kit.setNow(10);
    kit.run({ kind: 'wake' });
    expect(kit.takeEffects()).toEqual([]);
  });

  it('leaves the driver disarmed when it stops', () => {
    const { kit, armed } = createKit();
    kit.run({ kind: 'schedule', id: 1, dueMs: 10, intervalMs: null });
    kit.signal({ kind: 'stopped' });
    expect(armed).toEqual([10, 'disarmed']);
  });
});
