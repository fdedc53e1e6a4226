import { describe, expect, it } from 'vitest';
import {
  createCoordinatorBehavior,
  type Decision,
} from '../../../src/actors/throttle/coordinator-actor.js';
import { createBehaviorKit } from '../../../src/testing/behavior-kit.js';
import { createTestSystem } from '../../../src/testing/test-system.js';

const params = { upgradeCooldownTicks: 3000, downgradeAfterTicks: 3000 };

function start() {
  const test = createTestSystem();
  const decisions: { atMs: number; decision: Decision }[] = [];
  const coordinator = test.system.spawn(
    createCoordinatorBehavior({
      onStarted: () => {},
      onDecision: (decision) => decisions.push({ atMs: test.time.nowMs, decision }),
    }),
    { name: 'coordinator' },
  );
  const resume = (pendingUpgrades = false, active = true): void => {
    test.system.tell(coordinator, { kind: 'resume', active, params, pendingUpgrades });
    test.time.settle();
  };
  const busy = (): void => {
    test.system.tell(coordinator, { kind: 'busy' });
    test.time.settle();
  };
  return { ...test, coordinator, decisions, resume, busy };
}

describe('the coordinator actor', () => {
  it('sets no timer as long as there is nothing to relax', () => {
    const { time, resume } = start();
    resume();
    time.advanceTo(3_600_000);
    expect(time.pendingTimers).toBe(0);
  });

  it('decides at the exact millisecond, without counting to it', () => {
    const { time, decisions, resume, busy } = start();
    resume();
    time.advanceTo(1234);
    busy();
    expect(time.nextDeadlineMs).toBe(4234);
    time.advanceTo(10_000);
    expect(decisions).toEqual([
      { atMs: 1234, decision: 'upgrade' },
      { atMs: 4234, decision: 'downgrade' },
      { atMs: 7234, decision: 'downgrade' },
    ]);
  });

  it('is told that nothing is left to undo, and rests', () => {
    const { system, time, coordinator, decisions, resume, busy } = start();
    resume();
    busy();
    system.tell(coordinator, { kind: 'pending', value: false });
    time.advanceTo(100_000);
    expect(decisions).toEqual([{ atMs: 0, decision: 'upgrade' }]);
    expect(time.pendingTimers).toBe(0);
  });

  it('keeps one alarm however often BUSY puts it off', () => {
    const { time, decisions, resume, busy } = start();
    resume();
    for (let atMs = 0; atMs < 3000; atMs += 1) {
      time.advanceTo(atMs);
      busy();
      expect(time.pendingTimers).toBe(1);
    }
    time.advanceTo(5998);
    expect(decisions).toHaveLength(1);
    time.advanceTo(5999);
    expect(decisions.at(-1)).toEqual({ atMs: 5999, decision: 'downgrade' });
  });

  it('does not touch that alarm at each BUSY: it goes off, finds nothing due and is set anew', () => {
    const kit = createBehaviorKit(
      createCoordinatorBehavior({ onStarted: () => {}, onDecision: () => {} }),
    );
    kit.run({ kind: 'resume', active: true, params, pendingUpgrades: true });
    kit.takeEffects();
    for (let nowMs = 1; nowMs < 3000; nowMs += 1) {
      kit.setNow(nowMs);
      expect(kit.run({ kind: 'busy' })).toEqual([]);
    }
    kit.setNow(3000);
    expect(kit.fire(1)).toMatchObject([{ kind: 'after', delayMs: 2999 }]);
  });

  it('after a stall of 10 s loses no time, and undoes one level', () => {
    const { time, decisions, resume, busy } = start();
    resume();
    busy();
    time.stallTo(10_000);
    expect(decisions.map(({ decision }) => decision)).toEqual(['upgrade', 'downgrade']);
    busy();
    expect(decisions.at(-1)).toEqual({ atMs: 10_000, decision: 'upgrade' });
  });

  it('restored over limits in force relaxes them though BUSY never comes', () => {
    const { time, decisions, resume } = start();
    resume(true);
    time.advanceTo(3000);
    expect(decisions).toEqual([{ atMs: 3000, decision: 'downgrade' }]);
  });

  it('restored does not upgrade faster than the cooldown allows', () => {
    const { time, decisions, resume, busy } = start();
    resume(true);
    busy();
    time.advanceTo(2999);
    busy();
    expect(decisions).toEqual([]);
    time.advanceTo(3000);
    busy();
    expect(decisions).toEqual([{ atMs: 3000, decision: 'upgrade' }]);
  });

  it('remembers BUSY that came before it was told what stands', () => {
    const { decisions, resume, busy } = start();
    busy();
    busy();
    expect(decisions).toEqual([]);
    resume();
    expect(decisions).toEqual([{ atMs: 0, decision: 'upgrade' }]);
  });

  it('a shorter quiet time counts from the next tick, a longer one from what has passed', () => {
    const { system, time, coordinator, decisions, resume, busy } = start();
    const configure = (downgradeAfterTicks: number): void => {
      const next = { ...params, downgradeAfterTicks };
      system.tell(coordinator, { kind: 'configure', active: true, params: next });
      time.settle();
    };
    resume();
    busy();
    time.advanceTo(2000);
    configure(1000);
    time.advanceTo(2001);
    expect(decisions.at(-1)).toEqual({ atMs: 2001, decision: 'downgrade' });
    time.advanceTo(2501);
    configure(5000);
    time.advanceTo(7000);
    expect(decisions).toHaveLength(2);
    time.advanceTo(7001);
    expect(decisions.at(-1)).toEqual({ atMs: 7001, decision: 'downgrade' });
  });

  it('switched off answers no BUSY and forgets its counters; on again it starts anew', () => {
    const { system, time, coordinator, decisions, resume, busy } = start();
    resume();
    busy();
    system.tell(coordinator, { kind: 'configure', active: false, params });
    time.settle();
    expect(time.pendingTimers).toBe(0);
    busy();
    time.advanceTo(10);
    system.tell(coordinator, { kind: 'configure', active: true, params });
    busy();
    expect(decisions).toEqual([
      { atMs: 0, decision: 'upgrade' },
      { atMs: 10, decision: 'upgrade' },
    ]);
  });

  it('counts whole milliseconds of a clock with fractions, and none is lost', () => {
    const { time, decisions, resume, busy } = start();
    resume();
    time.advanceTo(0.75);
    busy();
    for (let i = 1; i < 4000; i += 1) time.advanceTo(0.75 + i * 0.9);
    expect(decisions.map(({ decision }) => decision)).toEqual(['upgrade', 'downgrade']);
    expect(decisions[1]?.atMs).toBeGreaterThanOrEqual(3000);
    expect(decisions[1]?.atMs).toBeLessThan(3002);
  });
});
