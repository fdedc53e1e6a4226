import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LimitAction,
  type PairLimit,
  pairId,
} from '../../../src/actors/throttle/limit-action.js';
import {
  downgrade,
  liftAll,
  NO_LEVELS,
  type ThrottleLevels,
  upgrade,
} from '../../../src/actors/throttle/state-machine.js';

const params = fc.record({
  topK: fc.constant(3),
  ratio: fc.double({ min: 0.01, max: 1, noNaN: true }),
  floorQps: fc.double({ min: 0.5, max: 20, noNaN: true }),
});

const snapshot = fc.uniqueArray(
  fc.record({
    rpc: fc.constantFrom('commit_rowset', 'prepare_rowset'),
    table: fc.constantFrom('1', '2', '3', '4'),
    qps: fc.double({ min: 0, max: 1000, noNaN: true }),
  }),
  { selector: pairId, maxLength: 6 },
);

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('upgrade' as const), snapshot, params }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('downgrade' as const) }) },
);

/** Limiters that do what they are told, and complain about nonsense. */
function obey(limits: Map<string, PairLimit>, actions: readonly LimitAction[]): void {
  for (const action of actions) {
    const { rpc, table } = action;
    if (action.type === 'set_limit') {
      limits.set(pairId(action), { rpc, table, qpsLimit: action.qpsLimit });
    } else expect(limits.delete(pairId(action))).toBe(true);
  }
}

function sorted(limits: ReadonlyMap<string, PairLimit>): PairLimit[] {
  return [...limits.values()].sort((a, b) => pairId(a).localeCompare(pairId(b)));
}

describe('the state machine', () => {
  it('undoes every upgrade in reverse order, to exactly what stood before it', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state: ThrottleLevels = NO_LEVELS;
        const before: PairLimit[][] = [];
        const limiters = new Map<string, PairLimit>();
        const undo = (): void => {
          const transition = downgrade(state);
          obey(limiters, transition.actions);
          state = transition.state;
          expect(sorted(state.limits)).toEqual(before.pop() ?? []);
        };
        for (const one of steps) {
          if (one.kind === 'downgrade') {
            undo();
          } else {
            const standing = sorted(state.limits);
            const transition = upgrade(state, one.snapshot, one.params);
            obey(limiters, transition.actions);
            if (transition.actions.length > 0) before.push(standing);
            else expect(transition.state).toBe(state);
            state = transition.state;
          }
          expect(state.history).toHaveLength(before.length);
          expect(sorted(limiters)).toEqual(sorted(state.limits));
        }
        while (before.length > 0) undo();
        expect(state.limits.size).toBe(0);
        expect(downgrade(state)).toEqual({ state, actions: [] });
      }),
    );
  });

  it('only ever tightens on an upgrade, and never below the floor', () => {
    fc.assert(
      fc.property(fc.array(snapshot, { maxLength: 10 }), params, (snapshots, rule) => {
        let state: ThrottleLevels = NO_LEVELS;
        for (const pairs of snapshots) {
          const old = state.limits;
          const { state: next, actions } = upgrade(state, pairs, rule);
          for (const action of actions) {
            if (action.type !== 'set_limit') throw new Error('an upgrade removed a limit');
            const rate = pairs.find((pair) => pairId(pair) === pairId(action))?.qps as number;
            const base = old.get(pairId(action))?.qpsLimit ?? rate;
            expect(action.qpsLimit).toBeLessThan(base);
            expect(action.qpsLimit).toBeGreaterThanOrEqual(rule.floorQps);
            expect(action.resetReservation).toBe(false);
          }
          state = next;
        }
      }),
    );
  });

  it.each([Number.NaN, -5, 0, Number.NEGATIVE_INFINITY])(
    'makes no limit of a rate of %s',
    (qps) => {
      const rule = { topK: 1, ratio: 0.5, floorQps: 1 };
      expect(upgrade(NO_LEVELS, [{ rpc: 'a', table: '1', qps }], rule).actions).toEqual([]);
    },
  );

  it('lifts every limit at once and forgets the history', () => {
    const rule = { topK: 2, ratio: 0.5, floorQps: 1 };
    const pairs = [
      { rpc: 'a', table: '1', qps: 100 },
      { rpc: 'b', table: '1', qps: 100 },
    ];
    const once = upgrade(NO_LEVELS, pairs, rule).state;
    const twice = upgrade(once, pairs.slice(0, 1), rule).state;
    expect(liftAll(twice)).toEqual({
      state: NO_LEVELS,
      actions: [
        { type: 'remove_limit', rpc: 'a', table: '1' },
        { type: 'remove_limit', rpc: 'b', table: '1' },
      ],
    });
  });

  it('keeps a bounded history under constant BUSY, and still undoes all of it', () => {
    const rule = { topK: 1, ratio: 0.5, floorQps: 1 };
    let state: ThrottleLevels = NO_LEVELS;
    const pair = (i: number) => ({ rpc: 'a', table: String(i % 100), qps: 64 * 2 ** 50 });
    for (let i = 0; i < 4400; i += 1) state = upgrade(state, [pair(i)], rule).state;
    expect(state.history).toHaveLength(4096);
    expect(state.limits.size).toBe(100);
    while (state.history.length > 0) state = downgrade(state).state;
    expect(state.limits.size).toBe(0);
  });
});
