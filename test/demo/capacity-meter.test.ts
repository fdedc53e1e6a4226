import { describe, expect, it } from 'vitest';
import { type CapacityState, decideAdmission } from '../../demo/service/capacity-meter.js';

const params = { unitsPerSecond: 1000, refusalUnits: 0.2, backlogMs: 100 };

/** Offers `perSecond` evenly for `seconds`; gives what was accepted and refused per second. */
function offer(perSecond: number, seconds: number, first: CapacityState = { busyUntilMs: 0 }) {
  let state = first;
  let accepted = 0;
  const calls = perSecond * seconds;
  for (let call = 0; call < calls; call += 1) {
    const decision = decideAdmission(params, state, (call * 1000) / perSecond);
    state = decision.state;
    if (decision.accepted) accepted += 1;
  }
  return { accepted: accepted / seconds, refused: (calls - accepted) / seconds, state };
}

describe('decideAdmission', () => {
  it('accepts all of a load below the capacity', () => {
    expect(offer(900, 10).refused).toBe(0);
  });

  it('accepts a burst as long as its work is done within the backlog', () => {
    let state: CapacityState = { busyUntilMs: 0 };
    const accepted = Array.from({ length: 150 }, () => {
      const decision = decideAdmission(params, state, 0);
      state = decision.state;
      return decision.accepted;
    });
    expect(accepted.filter(Boolean)).toHaveLength(100);
    expect(accepted.indexOf(false)).toBe(100);
  });

  it.each([1500, 2000, 3000, 4000])(
    'at %d/s, one accepted call and five refusals cost the same',
    (offered) => {
      const { accepted, refused } = offer(offered, 100);
      expect(accepted + 0.2 * refused).toBeGreaterThan(995);
      expect(accepted + 0.2 * refused).toBeLessThan(1006);
      expect(accepted).toBeCloseTo((1000 - 0.2 * offered) / 0.8, -1);
    },
  );

  it('does nothing but refuse from five times the capacity on', () => {
    expect(offer(6000, 100).accepted).toBeLessThan(5);
  });

  it('is back within twice the backlog after any overload', () => {
    const { state } = offer(50_000, 10);
    expect(decideAdmission(params, state, 10_000 + 200).accepted).toBe(true);
  });
});
