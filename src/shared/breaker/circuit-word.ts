/**
 * A circuit in one 64-bit word, so that each of its transitions is one compare-and-swap: whoever dies, dies before or
 * after it. By state, from the lowest bit:
 *
 *     closed     0 (3) | failures (16) | has been open (1) | unused (12) | closing epoch (32)
 *     open       1 (3) | failed probes (5) | good probes (4) | unused (10) | opened at, ticks (42)
 *     half-open  2 (3) | failed probes (5) | good probes (4) | owner (10) | probe at, ticks (42)
 *     isolated   3 (3) | unused (19) | since, ticks (42)
 *
 * A word of 0 is a healthy circuit. 42 bits of ticks of 1/16 ms are 8.7 years. A probe is known by its whole word: the
 * same thread makes no second one in the same tick while the first is out. When a half-open circuit was opened is kept
 * beside the word; see circuit-cells.ts.
 */
import { type CircuitState, HEALTHY, TICKS_PER_MS } from './circuit-state.js';

const CLOSED = 0;
const OPEN = 1;
const HALF_OPEN = 2;
const ISOLATED = 3;

const STATE_BITS = 3;
const FAILURES_BITS = 16;
const HAS_BEEN_OPEN: number = 1 << (STATE_BITS + FAILURES_BITS);
const FAILED_SHIFT = 3;
const GOOD_SHIFT = 8;
const OWNER_SHIFT = 12;
const TICKS_SHIFT = 22;

/** Threads that the owner's bits can tell apart. */
export const MAX_OWNERS = 1024;

/** Of the lower half of a word: it is 0 under this mask if, and only if, the circuit is closed without failures. */
export const TROUBLE_MASK: number = (1 << (STATE_BITS + FAILURES_BITS)) - 1;

export function packCircuit(state: CircuitState): bigint {
  switch (state.kind) {
    case 'closed': {
      const { failures, closedEpoch } = state;
      if (closedEpoch === undefined) return join(failures << STATE_BITS, 0);
      return join((failures << STATE_BITS) | HAS_BEEN_OPEN, closedEpoch);
    }
    case 'open':
      return timed(OPEN | probes(state), state.openedAtMs);
    case 'half_open':
      return timed(HALF_OPEN | probes(state) | (state.owner << OWNER_SHIFT), state.probeAtMs);
    case 'isolated':
      return timed(ISOLATED, state.sinceMs);
  }
}

/** `openedAtMs`: of the circuit, in case that it is half-open. */
export function unpackCircuit(word: bigint, openedAtMs: number): CircuitState {
  if (word === 0n) return HEALTHY;
  const low = Number(word & 0xffff_ffffn);
  const high = Number(word >> 32n);
  const failedProbes = (low >>> FAILED_SHIFT) & 31;
  const goodProbes = (low >>> GOOD_SHIFT) & 15;
  const atMs = (high * 1024 + (low >>> TICKS_SHIFT)) / TICKS_PER_MS;
  switch (low & ((1 << STATE_BITS) - 1)) {
    case CLOSED: {
      const failures = (low & TROUBLE_MASK) >>> STATE_BITS;
      const closedEpoch = (low & HAS_BEEN_OPEN) === 0 ? undefined : high | 0;
      return { kind: 'closed', failures, closedEpoch };
    }
    case OPEN:
      return { kind: 'open', openedAtMs: atMs, failedProbes, goodProbes };
    case HALF_OPEN: {
      const owner = (low >>> OWNER_SHIFT) & (MAX_OWNERS - 1);
      // A thread's clock may be a little behind that of the one that opened it.
      const opened = Math.min(openedAtMs, atMs);
      return {
        kind: 'half_open',
        openedAtMs: opened,
        failedProbes,
        goodProbes,
        probeAtMs: atMs,
        owner,
      };
    }
    default:
      return { kind: 'isolated', sinceMs: atMs };
  }
}

function probes({
  failedProbes,
  goodProbes,
}: {
  readonly failedProbes: number;
  readonly goodProbes: number;
}): number {
  return (failedProbes << FAILED_SHIFT) | (goodProbes << GOOD_SHIFT);
}

function timed(low: number, atMs: number): bigint {
  const ticks = atMs * TICKS_PER_MS;
  return join(low | ((ticks % 1024) << TICKS_SHIFT), Math.floor(ticks / 1024));
}

function join(low: number, high: number): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}
