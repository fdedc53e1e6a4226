import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ArenaCircuits } from '../../../conformance/suites/arena-circuits.mjs';
import { PureCircuits } from '../../../conformance/suites/pure-circuits.mjs';
import type { CircuitOutcome } from '../../../src/shared/breaker/settle-permit.js';
import { subjectFromSource } from '../../conformance/subject-from-source.js';
import { paramsOf } from './breaker-params.js';
import { NaiveBreaker } from './naive-breaker.js';

const { breaker } = subjectFromSource;
const ADDRESSES = ['a:1', 'b:1', 'c:1', 'd:1', 'e:1', 'f:1'];

type Step = { readonly passMs: number } & (
  | { readonly kind: 'admit'; readonly address: string }
  | { readonly kind: 'settle'; readonly pick: number; readonly outcome: CircuitOutcome }
  | { readonly kind: 'configure'; readonly cooldownMs: number; readonly failureThreshold: number }
  | { readonly kind: 'sweep' }
);

// At least 1 ms, so that of two addresses one is always the older.
const passMs = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 60 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 700 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 9000 }) },
);
const outcome = fc.constantFrom<CircuitOutcome>(
  'failure',
  'failure',
  'failure',
  'success',
  'ignored',
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('admit' as const),
      passMs,
      address: fc.constantFrom(...ADDRESSES),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      passMs,
      // The newest first: most calls end soon.
      pick: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(40)),
      outcome,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('configure' as const),
      passMs,
      cooldownMs: fc.integer({ min: 1, max: 1500 }),
      failureThreshold: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const), passMs }) },
);

const base = {
  failureThreshold: fc.integer({ min: 1, max: 4 }),
  cooldownMs: fc.integer({ min: 1, max: 1500 }),
  probeTimeoutMs: fc.integer({ min: 1, max: 700 }),
  maxAddresses: fc.integer({ min: 1, max: 7 }),
  idleMs: fc.integer({ min: 1, max: 4000 }),
};

describe.each([
  ['the pure decisions over a map', () => new PureCircuits(breaker)],
  ['the circuits of the arena', (max: number) => new ArenaCircuits(breaker, max)],
])('%s', (_what, create) => {
  it('do what the naive breaker does, through any calls, late results, changes, sweeps and floods', () => {
    fc.assert(
      fc.property(
        fc.record(base),
        fc.array(step, { minLength: 1, maxLength: 300, size: 'max' }),
        (given, steps) => {
          let params = { ...paramsOf(), ...given };
          const circuits = create(given.maxAddresses);
          const naive = new NaiveBreaker(params);
          const open: { mine: unknown; naive: Parameters<NaiveBreaker['settle']>[0] }[] = [];
          let nowMs = 0;
          for (const one of steps) {
            nowMs += one.passMs;
            if (one.kind === 'admit') {
              const mine = circuits.admit(one.address, params, nowMs);
              const other = naive.admit(one.address, nowMs);
              if (typeof other === 'number') {
                expect(mine).toMatchObject({ decision: 'open', retryAfterMs: other });
              } else {
                expect(mine.decision).toBe(other.probe ? 'probe' : 'closed');
                open.unshift({ mine: mine.permit, naive: other });
              }
            } else if (one.kind === 'settle') {
              const [call] = open.splice(one.pick, 1);
              if (call === undefined) continue;
              circuits.settle(call.mine, one.outcome, params, nowMs);
              naive.settle(call.naive, one.outcome, nowMs);
            } else if (one.kind === 'configure') {
              const { cooldownMs, failureThreshold } = one;
              params = { ...params, cooldownMs, failureThreshold };
              naive.params = params;
            } else {
              expect(circuits.sweep(params, nowMs)).toBe(naive.sweep(nowMs));
            }
            expect(circuits.tracked()).toBe(naive.tracked);
            for (const address of ADDRESSES) {
              const { state, failures, retryAfterMs } = naive.state(address, nowMs);
              const view = { state, consecutiveFailures: failures, retryAfterMs };
              expect(circuits.view(address, params, nowMs)).toMatchObject(view);
            }
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
