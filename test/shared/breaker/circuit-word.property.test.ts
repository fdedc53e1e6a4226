import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CircuitState,
  HEALTHY,
  MAX_FAILED_PROBES,
  MAX_FAILURES,
  MAX_GOOD_PROBES,
  TICKS_PER_MS,
} from '../../../src/shared/breaker/circuit-state.js';
import {
  MAX_OWNERS,
  packCircuit,
  TROUBLE_MASK,
  unpackCircuit,
} from '../../../src/shared/breaker/circuit-word.js';

/** Up to the last tick that a word can hold, 8.7 years. */
const ms = fc.maxSafeNat().map((n) => (n % 2 ** 42) / TICKS_PER_MS);
const probes = {
  failedProbes: fc.nat(MAX_FAILED_PROBES),
  goodProbes: fc.nat(MAX_GOOD_PROBES),
};

const state: fc.Arbitrary<CircuitState> = fc.oneof(
  fc.record({
    kind: fc.constant('closed' as const),
    failures: fc.nat(MAX_FAILURES),
    closedEpoch: fc.option(fc.integer(), { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('open' as const), openedAtMs: ms, ...probes }),
  fc
    .record({
      kind: fc.constant('half_open' as const),
      openedAtMs: ms,
      probeAtMs: ms,
      owner: fc.nat(MAX_OWNERS - 1),
      ...probes,
    })
    .filter(({ openedAtMs, probeAtMs }) => openedAtMs <= probeAtMs),
  fc.record({ kind: fc.constant('isolated' as const), sinceMs: ms }),
);

const openedAtMs = (circuit: CircuitState): number =>
  circuit.kind === 'half_open' ? circuit.openedAtMs : 0;

describe('a packed circuit', () => {
  it('is unpacked as it was', () => {
    fc.assert(
      fc.property(state, (circuit) => {
        const word = packCircuit(circuit);
        expect(word).toBe(BigInt.asUintN(64, word));
        expect(unpackCircuit(word, openedAtMs(circuit))).toEqual(circuit);
      }),
      { numRuns: 1000 },
    );
  });

  it('differs from any other, but for the time that is kept beside it', () => {
    const comparable = (circuit: CircuitState): CircuitState =>
      circuit.kind === 'half_open' ? { ...circuit, openedAtMs: 0 } : circuit;
    fc.assert(
      fc.property(state, state, (a, b) => {
        const same = JSON.stringify(comparable(a)) === JSON.stringify(comparable(b));
        expect(packCircuit(a) === packCircuit(b)).toBe(same);
      }),
      { numRuns: 1000 },
    );
  });

  it('shows in its lower half whether anything is wrong', () => {
    fc.assert(
      fc.property(state, (circuit) => {
        const low = Number(packCircuit(circuit) & 0xffff_ffffn);
        const healthy = circuit.kind === 'closed' && circuit.failures === 0;
        expect((low & TROUBLE_MASK) === 0).toBe(healthy);
      }),
      { numRuns: 1000 },
    );
  });

  it('of a healthy address is 0, and 0 is healthy', () => {
    expect(packCircuit(HEALTHY)).toBe(0n);
    expect(unpackCircuit(0n, 5)).toEqual(HEALTHY);
  });
});
