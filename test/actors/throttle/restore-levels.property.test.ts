import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairId } from '../../../src/actors/throttle/limit-action.js';
import { restoreLevels } from '../../../src/actors/throttle/restore-levels.js';
import {
  downgrade,
  NO_LEVELS,
  type ThrottleLevels,
  upgrade,
} from '../../../src/actors/throttle/state-machine.js';

const rule = { topK: 3, ratio: 0.5, floorQps: 1 };

const snapshot = fc.uniqueArray(
  fc.record({
    rpc: fc.constantFrom('a', 'b'),
    table: fc.constantFrom('1', '2', '3'),
    qps: fc.integer({ min: 1, max: 1000 }),
  }),
  { selector: pairId, maxLength: 4 },
);

const story = fc.array(fc.oneof(snapshot, fc.constant('undo' as const)), { maxLength: 12 });

function tell(steps: readonly ('undo' | { rpc: string; table: string; qps: number }[])[]) {
  const states: ThrottleLevels[] = [NO_LEVELS];
  for (const one of steps) {
    const state = states.at(-1) as ThrottleLevels;
    states.push((one === 'undo' ? downgrade(state) : upgrade(state, one, rule)).state);
  }
  return states;
}

function undoAll(state: ThrottleLevels): { levels: number; left: number } {
  let next = state;
  let levels = 0;
  while (next.history.length > 0) {
    next = downgrade(next).state;
    levels += 1;
  }
  return { levels, left: next.limits.size };
}

describe('after a restart', () => {
  it('an up-to-date copy of the history is taken over as it is', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const state = tell(steps).at(-1) as ThrottleLevels;
        const copy = structuredClone(state.history);
        const restored = restoreLevels(copy, [...state.limits.values()]);
        expect(restored).toMatchObject({ unrecorded: 0, obsolete: 0 });
        expect(restored.state.history).toEqual(state.history);
        expect(restored.state.limits).toEqual(state.limits);
      }),
    );
  });

  it('a copy of any age leads to the limits in force, and all of them are undone in the end', () => {
    fc.assert(
      fc.property(story, fc.nat(), (steps, age) => {
        const states = tell(steps);
        const present = states.at(-1) as ThrottleLevels;
        const stale = states[states.length - 1 - (age % states.length)] as ThrottleLevels;
        const inForce = [...present.limits.values()];
        const { state } = restoreLevels(stale.history, inForce);
        expect([...state.limits.values()]).toEqual(inForce);
        expect(state.history.every(({ changes }) => changes.length > 0)).toBe(true);
        expect(undoAll(state).left).toBe(0);
        // Undoing relaxes: no step makes a limit stricter.
        for (let next = state; next.history.length > 0; ) {
          const undone = downgrade(next).state;
          for (const [id, { qpsLimit }] of undone.limits) {
            expect(qpsLimit).toBeGreaterThanOrEqual(next.limits.get(id)?.qpsLimit as number);
          }
          next = undone;
        }
      }),
    );
  });

  it('limits in force without any record count as one level', () => {
    const inForce = [
      { rpc: 'a', table: '1', qpsLimit: 12.5 },
      { rpc: 'b', table: '2', qpsLimit: 3 },
    ];
    const { state, unrecorded } = restoreLevels([], inForce);
    expect(unrecorded).toBe(2);
    expect(undoAll(state)).toEqual({ levels: 1, left: 0 });
  });

  it('an upgrade whose record was lost is undone first, to what the records lead to', () => {
    const states = tell([
      [{ rpc: 'a', table: '1', qps: 100 }],
      [{ rpc: 'a', table: '1', qps: 50 }],
    ]);
    const lost = restoreLevels(states[1]?.history ?? [], [{ rpc: 'a', table: '1', qpsLimit: 25 }]);
    expect(lost).toMatchObject({ unrecorded: 1, obsolete: 0 });
    expect(downgrade(lost.state).actions).toEqual([
      { type: 'set_limit', rpc: 'a', table: '1', qpsLimit: 50, resetReservation: true },
    ]);
  });

  it('a downgrade whose record was lost is not done again', () => {
    const states = tell([
      [{ rpc: 'a', table: '1', qps: 100 }],
      [{ rpc: 'a', table: '1', qps: 50 }],
    ]);
    const lost = restoreLevels(states[2]?.history ?? [], [{ rpc: 'a', table: '1', qpsLimit: 50 }]);
    expect(lost).toMatchObject({ unrecorded: 0, obsolete: 1 });
    expect(lost.state.history).toHaveLength(1);
  });

  it('a record whose predecessors were lost leads to no limit that nothing would ever undo', () => {
    const changes = [{ rpc: 'a', table: '1', qpsLimit: 30, previousQpsLimit: 60 }];
    const { state } = restoreLevels([{ changes }], [{ rpc: 'a', table: '1', qpsLimit: 30 }]);
    expect(downgrade(state).actions).toEqual([{ type: 'remove_limit', rpc: 'a', table: '1' }]);
  });

  it('a rate that lost its last digits in the limiter is still the same rate', () => {
    const states = tell([[{ rpc: 'a', table: '1', qps: 100 / 3 }]]);
    const inForce = [{ rpc: 'a', table: '1', qpsLimit: 16.666_668 }];
    expect(restoreLevels(states[1]?.history ?? [], inForce)).toMatchObject({
      unrecorded: 0,
      obsolete: 0,
    });
  });
});
