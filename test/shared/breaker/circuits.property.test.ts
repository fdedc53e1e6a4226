import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ArenaCircuits } from '../../../conformance/suites/arena-circuits.mjs';
import { PureCircuits } from '../../../conformance/suites/pure-circuits.mjs';
import type { CircuitOutcome } from '../../../src/shared/breaker/settle-permit.js';
import { subjectFromSource } from '../../conformance/subject-from-source.js';
import { paramsOf } from './breaker-params.js';
import { NaiveBreaker } from './naive-breaker.js';
import { PureCircuit } from './pure-circuit.js';

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

describe('the circuits of the arena, with every optional feature', () => {
  const optional = fc.record({
    failureThreshold: fc.integer({ min: 1, max: 4 }),
    cooldownMs: fc.integer({ min: 1, max: 1500 }),
    probeTimeoutMs: fc.integer({ min: 1, max: 700 }),
    cooldownFactor: fc.constantFrom(1, 1.5, 10),
    maxCooldownMs: fc.integer({ min: 1, max: 20_000 }),
    probesToClose: fc.integer({ min: 1, max: 15 }),
    failureRate: fc.constantFrom(0, 0.1, 0.5, 1),
    windowMs: fc.integer({ min: 100, max: 5000 }),
    minimumCalls: fc.integer({ min: 1, max: 10 }),
  });
  const call = fc.record({ passMs, pick: fc.nat(3), outcome, admits: fc.boolean() });

  it('do what the pure decisions do', () => {
    fc.assert(
      fc.property(optional, fc.array(call, { maxLength: 200, size: 'max' }), (given, calls) => {
        const pure = new PureCircuit(given);
        const params = { ...pure.params, maxAddresses: 10, idleMs: 1 };
        const arena = new ArenaCircuits(breaker, 10);
        const open: { pure: ReturnType<PureCircuit['admit']>; arena: unknown }[] = [];
        let nowMs = 0;
        for (const { passMs: ms, pick, outcome: ends, admits } of calls) {
          nowMs += ms;
          if (admits || open.length === 0) {
            const admitted = arena.admit('a:1', params, nowMs);
            const permit = pure.admit(nowMs);
            if (typeof permit === 'number') expect(admitted.retryAfterMs).toBe(permit);
            else {
              expect(admitted.decision).toBe(permit.kind);
              open.unshift({ pure: permit, arena: admitted.permit });
            }
          } else {
            const [one] = open.splice(Math.min(pick, open.length - 1), 1);
            arena.settle(one?.arena, ends, params, nowMs);
            pure.settle(one?.pure ?? 0, ends, nowMs);
          }
          expect(arena.view('a:1', params, nowMs)).toEqual(pure.view(nowMs));
        }
      }),
    );
  });
});
