/** May a call to this address go out? Pure: the next state of the circuit, and the answer. */
import type { BreakerParams } from './breaker-params.js';
import {
  type CircuitState,
  type HalfOpenCircuit,
  type OpenCircuit,
  wholeTick,
} from './circuit-state.js';
import { cooldownEndMs } from './cooldown.js';

export type Admission =
  /** As if there were no breaker. */
  | { readonly decision: 'closed' }
  /** The one call that tries the address; `next` is the state that it is the probe of. */
  | {
      readonly decision: 'probe';
      readonly next: HalfOpenCircuit;
      /** The probe before it did not answer in time. */
      readonly replacesLost: boolean;
    }
  | {
      readonly decision: 'open';
      /** After which something can have changed: the end of the cooldown, or the deadline of the probe that is out. */
      readonly retryAfterMs: number;
    };

export interface Admitting {
  readonly nowMs: number;
  readonly params: BreakerParams;
  /** Of the circuit, see {@link cooldownEndMs}. */
  readonly salt: number;
  /** Place of the thread that asks. */
  readonly owner: number;
}

const CLOSED: Admission = Object.freeze({ decision: 'closed' });

/** Bounds are inclusive: at the end of the cooldown the probe goes, at its deadline it is lost. */
export function decideAdmission(
  state: CircuitState,
  { nowMs, params, salt, owner }: Admitting,
): Admission {
  switch (state.kind) {
    case 'closed':
      return CLOSED;
    case 'isolated':
      return { decision: 'open', retryAfterMs: params.cooldownMs };
    case 'open': {
      const leftMs = cooldownEndMs(state, params, salt) - nowMs;
      if (leftMs > 0) return { decision: 'open', retryAfterMs: leftMs };
      return { decision: 'probe', next: probing(state, nowMs, owner), replacesLost: false };
    }
    case 'half_open': {
      const leftMs = probeDeadlineMs(state, params) - nowMs;
      if (leftMs > 0) return { decision: 'open', retryAfterMs: leftMs };
      return { decision: 'probe', next: probing(state, nowMs, owner), replacesLost: true };
    }
  }
}

/** From here on the probe of a half-open circuit is lost, whether or not another has taken its place. */
export function probeDeadlineMs(
  { probeAtMs }: Pick<HalfOpenCircuit, 'probeAtMs'>,
  { probeTimeoutMs }: Pick<BreakerParams, 'probeTimeoutMs'>,
): number {
  return probeAtMs + probeTimeoutMs;
}

function probing(
  { openedAtMs, failedProbes, goodProbes }: OpenCircuit | HalfOpenCircuit,
  nowMs: number,
  owner: number,
): HalfOpenCircuit {
  return {
    kind: 'half_open',
    openedAtMs,
    failedProbes,
    goodProbes,
    probeAtMs: wholeTick(nowMs),
    owner,
  };
}
