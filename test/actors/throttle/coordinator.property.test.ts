import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  busy,
  type CoordinatorParams,
  type CoordinatorState,
  INITIAL_COORDINATOR,
  RESTORED_COORDINATOR,
  setPendingUpgrades,
  tick,
  ticksToDowngrade,
} from '../../../src/actors/throttle/coordinator.js';

const params = fc.record({
  upgradeCooldownTicks: fc.integer({ min: 0, max: 30 }),
  downgradeAfterTicks: fc.integer({ min: 0, max: 30 }),
});

const step = fc.oneof(
  fc.record({ kind: fc.constant('busy' as const) }),
  fc.record({ kind: fc.constant('tick' as const), n: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ kind: fc.constant('pending' as const), value: fc.boolean() }),
);

it('never upgrades within the cooldown, never downgrades before the quiet time, whatever comes when', () => {
  fc.assert(
    fc.property(params, fc.array(step, { maxLength: 100 }), (rule, steps) => {
      let state = INITIAL_COORDINATOR;
      let now = 0;
      let lastUpgrade = Number.NEGATIVE_INFINITY;
      let lastQuietStart = Number.NEGATIVE_INFINITY;
      for (const one of steps) {
        if (one.kind === 'busy') {
          const outcome = busy(state, rule);
          expect(outcome.upgrade).toBe(now - lastUpgrade >= rule.upgradeCooldownTicks);
          if (outcome.upgrade) lastUpgrade = now;
          if (outcome.upgrade || state.pendingUpgrades) lastQuietStart = now;
          state = outcome.state;
        } else if (one.kind === 'tick') {
          now += one.n;
          const outcome = tick(state, rule, one.n);
          if (outcome.downgrade) {
            expect(state.pendingUpgrades).toBe(true);
            expect(now - lastQuietStart).toBeGreaterThanOrEqual(rule.downgradeAfterTicks);
            lastQuietStart = now;
          }
          state = outcome.state;
        } else {
          state = setPendingUpgrades(state, one.value);
        }
        expect(state.ticksSinceUpgrade).toBeLessThanOrEqual(rule.upgradeCooldownTicks);
        expect(state.ticksSinceBusy).toBeLessThanOrEqual(rule.downgradeAfterTicks);
        expect(state.ticksSinceBusy >= 0).toBe(state.ticksSinceBusy !== -1);
      }
    }),
  );
});

/** Lets `n` ticks pass one at a time. */
function oneByOne(state: CoordinatorState, rule: CoordinatorParams, n: number): number | undefined {
  let next = state;
  for (let i = 1; i <= n; i += 1) {
    const outcome = tick(next, rule, 1);
    if (outcome.downgrade) return i;
    next = outcome.state;
  }
  return undefined;
}

it('foretells the tick of the next downgrade, so that nobody has to count to it', () => {
  fc.assert(
    fc.property(params, fc.array(step, { maxLength: 30 }), (rule, steps) => {
      let state: CoordinatorState = INITIAL_COORDINATOR;
      for (const one of steps) {
        if (one.kind === 'busy') state = busy(state, rule).state;
        else if (one.kind === 'tick') state = tick(state, rule, one.n).state;
        else state = setPendingUpgrades(state, one.value);
      }
      expect(ticksToDowngrade(state, rule)).toBe(oneByOne(state, rule, 100));
    }),
  );
});

it('counts many ticks at once as one by one, up to the first downgrade', () => {
  fc.assert(
    fc.property(params, fc.integer({ min: 0, max: 29 }), (rule, n) => {
      const start = busy(INITIAL_COORDINATOR, rule).state;
      let single = start;
      for (let i = 0; i < n; i += 1) {
        const outcome = tick(single, rule, 1);
        if (outcome.downgrade) return;
        single = outcome.state;
      }
      expect(tick(start, rule, n).state).toEqual(single);
    }),
  );
});

it('downgrades at most once for a stall of any length', () => {
  const rule = { upgradeCooldownTicks: 3000, downgradeAfterTicks: 3000 };
  for (const n of [10_000, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
    const { state, downgrade } = tick(RESTORED_COORDINATOR, rule, n);
    expect(downgrade).toBe(true);
    expect(tick(state, rule, 2999).downgrade).toBe(false);
    expect(tick(state, rule, 3000).downgrade).toBe(true);
  }
});

it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('refuses %s ticks', (n) => {
  const rule = { upgradeCooldownTicks: 1, downgradeAfterTicks: 1 };
  expect(() => tick(INITIAL_COORDINATOR, rule, n)).toThrow(RangeError);
});
