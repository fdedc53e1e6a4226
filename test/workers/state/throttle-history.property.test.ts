import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairId } from '../../../src/actors/throttle/limit-action.js';
import { limitMoves } from '../../../src/actors/throttle/limit-move.js';
import {
  downgrade,
  liftAll,
  NO_LEVELS,
  type ThrottleLevels,
  upgrade,
} from '../../../src/actors/throttle/state-machine.js';
import type { ThrottleReason } from '../../../src/actors/throttle/throttle-reason.js';
import type { ThrottleChange } from '../../../src/workers/runtime-events.js';
import type { LimitSnapshot } from '../../../src/workers/snapshot.js';
import { ThrottleHistory } from '../../../src/workers/state/throttle-history.js';

const RULE = { topK: 2, ratio: 0.5, floorQps: 1 };
const BUSY: ThrottleReason = { kind: 'busy', count: 3, overMs: 3000 };

type Rates = readonly { rpc: string; table: string; qps: number }[];

/** A control thread's levels, and the owner's history of them. */
class Told {
  readonly history = new ThrottleHistory();
  levels: ThrottleLevels = NO_LEVELS;
  nowMs = 0;

  do(kind: 'upgrade' | 'downgrade' | 'lifted', rates: Rates = [], isHeard = true): void {
    this.nowMs += 10;
    const before = this.levels;
    const { state, actions } =
      kind === 'upgrade'
        ? upgrade(before, rates, RULE)
        : kind === 'downgrade'
          ? downgrade(before)
          : liftAll(before);
    this.levels = state;
    if (!isHeard) return;
    const changes = limitMoves(before, actions, kind === 'upgrade' ? rates : []);
    const reason: ThrottleReason =
      kind === 'upgrade'
        ? BUSY
        : kind === 'downgrade'
          ? { kind: 'quiet', forMs: 3000.4 }
          : { kind: 'switched-off' };
    const told: ThrottleChange = {
      level: state.history.length,
      atMs: this.nowMs,
      actions,
      changes,
      changed: changes.length,
      reason,
    };
    this.history.note(kind, told);
  }

  limits(currentQps = 0): LimitSnapshot[] {
    return [...this.levels.limits.values()].map((limit) => ({ ...limit, currentQps, sinceMs: 1 }));
  }

  shown(most = 1000) {
    return this.history.throttled(this.limits(), most).pairs;
  }
}

const a = { rpc: 'a', table: '1' };
const b = { rpc: 'a', table: '2' };

describe('the history of table limits', () => {
  it('tells since when a pair is slowed, from which rate, and in how many steps', () => {
    const told = new Told();
    told.do('upgrade', [{ ...a, qps: 80 }]);
    told.do('upgrade', [
      { ...a, qps: 41 },
      { ...b, qps: 20 },
    ]);
    expect(told.shown()).toEqual([
      { ...a, qpsLimit: 20, currentQps: 0, qpsBefore: 80, sinceMs: 10, changedMs: 20, steps: 2 },
      { ...b, qpsLimit: 10, currentQps: 0, qpsBefore: 20, sinceMs: 20, changedMs: 20, steps: 1 },
    ]);
    told.do('downgrade');
    expect(told.shown()).toEqual([
      { ...a, qpsLimit: 40, currentQps: 0, qpsBefore: 80, sinceMs: 10, changedMs: 30, steps: 1 },
    ]);
    told.do('downgrade');
    told.do('upgrade', [{ ...a, qps: 60 }]);
    expect(told.shown()).toMatchObject([{ qpsBefore: 60, sinceMs: 50, steps: 1 }]);
    told.do('lifted');
    expect(told.shown()).toEqual([]);
  });

  it('records each change with its reason, for people and for programs', () => {
    const told = new Told();
    told.do('upgrade', [{ ...a, qps: 80 }]);
    told.do('downgrade');
    told.do('upgrade', []);
    told.do('lifted');
    expect(told.history.records()).toEqual([
      {
        seq: 1,
        atMs: 10,
        kind: 'upgrade',
        level: 1,
        reason: '3 BUSY in 3000 ms',
        cause: BUSY,
        changed: 1,
        changes: [{ ...a, before: null, after: 40, qps: 80 }],
      },
      {
        seq: 2,
        atMs: 20,
        kind: 'downgrade',
        level: 0,
        reason: 'quiet for 3000 ms',
        cause: { kind: 'quiet', forMs: 3000.4 },
        changed: 1,
        changes: [{ ...a, before: 40, after: null, qps: null }],
      },
      {
        seq: 3,
        atMs: 30,
        kind: 'upgrade',
        level: 0,
        reason: '3 BUSY in 3000 ms',
        cause: BUSY,
        changed: 0,
        changes: [],
      },
      {
        seq: 4,
        atMs: 40,
        kind: 'lifted',
        level: 0,
        reason: 'switched off',
        cause: { kind: 'switched-off' },
        changed: 0,
        changes: [],
      },
    ]);
  });

  it('keeps the newest 1000 changes, with at most 100 pairs each', () => {
    const told = new Told();
    const many = Array.from({ length: 500 }, (_, i) => ({ rpc: 'a', table: `${i}`, qps: 64 }));
    for (let i = 0; i < 1100; i += 1) told.do(i % 2 === 0 ? 'upgrade' : 'downgrade', many);
    const records = told.history.records();
    expect(records).toHaveLength(1000);
    expect(records.at(-1)?.seq).toBe(1100);
    expect(records.every(({ changes, changed }) => changes.length === 100 && changed === 500)).toBe(
      true,
    );
  });

  it('shows a limit that it was not told of with what the arena knows', () => {
    const told = new Told();
    told.do('upgrade', [{ ...a, qps: 80 }], false);
    expect(told.shown()).toEqual([
      { ...a, qpsLimit: 40, currentQps: 0, qpsBefore: null, sinceMs: 1, changedMs: null, steps: 1 },
    ]);
    told.do('upgrade', [{ ...a, qps: 40 }]);
    expect(told.shown()).toMatchObject([{ qpsBefore: null, sinceMs: 1, changedMs: 20, steps: 2 }]);
  });

  it('takes nothing for what was of a limit that has gone unheard', () => {
    const told = new Told();
    told.do('upgrade', [{ ...a, qps: 80 }]);
    told.do('downgrade', [], false);
    expect(told.shown()).toEqual([]);
    told.do('upgrade', [{ ...a, qps: 20 }], false);
    expect(told.shown()).toMatchObject([{ qpsBefore: null, changedMs: null }]);
  });

  it('shows the most severely slowed first, by the share of the demand that is let through', () => {
    const told = new Told();
    told.do('upgrade', [
      { ...a, qps: 10 },
      { ...b, qps: 1000 },
    ]);
    told.do('upgrade', [{ ...a, qps: 10 }]);
    expect(told.shown().map(({ table }) => table)).toEqual(['1', '2']);
    expect(told.shown(1).map(({ table }) => table)).toEqual(['1']);
    const asked = told.limits().map((limit) => ({
      ...limit,
      currentQps: limit.table === '2' ? 5000 : 0,
    }));
    expect(told.history.throttled(asked, 1).pairs.map(({ table }) => table)).toEqual(['2']);
    expect(told.history.throttled(asked, 1).limits).toEqual([asked[1]]);
    // The limits as they were given, the pairs by severity.
    const reversed = asked.toReversed();
    expect(told.history.throttled(reversed, 2).limits).toEqual(reversed);
    expect(told.history.throttled(asked, 2).limits).toEqual(asked);
  });

  it('knows every limit in force, whatever was done and whatever part of it was heard', () => {
    const rates = fc.uniqueArray(
      fc.record({
        rpc: fc.constantFrom('a', 'b'),
        table: fc.constantFrom('1', '2', '3'),
        qps: fc.double({ min: 2, max: 1000, noNaN: true }),
      }),
      { selector: pairId, maxLength: 4 },
    );
    const step = fc.tuple(
      fc.constantFrom('upgrade', 'upgrade', 'downgrade', 'lifted' as const),
      rates,
      fc.boolean(),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, hearsAll) => {
        const told = new Told();
        for (const [kind, snapshot, isHeard] of steps) {
          told.do(kind as 'upgrade', snapshot, hearsAll || isHeard);
          const shown = told.shown();
          expect(new Set(shown.map(pairId))).toEqual(new Set(told.levels.limits.keys()));
          for (const pair of shown) {
            expect(pair.steps).toBeGreaterThanOrEqual(1);
            if (!hearsAll) continue;
            const slowing = told.levels.history.filter(({ changes }) =>
              changes.some((change) => pairId(change) === pairId(pair)),
            );
            expect(pair.steps).toBe(slowing.length);
            expect(pair.qpsBefore).toBeGreaterThan(pair.qpsLimit);
          }
        }
      }),
    );
  });
});
