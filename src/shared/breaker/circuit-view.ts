/** A circuit as people see it. */
import { probeDeadlineMs } from './admit-call.js';
import type { BreakerParams } from './breaker-params.js';
import type { CircuitState } from './circuit-state.js';
import { cooldownEndMs } from './cooldown.js';

export interface CircuitView {
  readonly state: 'closed' | 'open' | 'half_open';
  /** Opened by hand. */
  readonly isolated: boolean;
  /** While it is closed: in a row; in failure-rate mode those in the window. */
  readonly consecutiveFailures: number;
  /** Until a probe may go; 0: the next call is one, or nothing is refused. */
  readonly retryAfterMs: number;
}

/**
 * Half-open is a circuit whose probe is out, or of whose probes some were good. One that has served its cooldown and waits
 * for a call to be the probe is open, with `retryAfterMs` 0.
 */
export function viewCircuit(
  state: CircuitState,
  params: BreakerParams,
  nowMs: number,
  salt: number,
): CircuitView {
  switch (state.kind) {
    case 'closed':
      return view('closed', 0, state.failures);
    case 'isolated':
      return { ...view('open', params.cooldownMs), isolated: true };
    case 'open': {
      const leftMs = Math.max(cooldownEndMs(state, params, salt) - nowMs, 0);
      return view(state.goodProbes > 0 ? 'half_open' : 'open', leftMs);
    }
    case 'half_open':
      return view('half_open', Math.max(probeDeadlineMs(state, params) - nowMs, 0));
  }
}

function view(
  state: CircuitView['state'],
  retryAfterMs: number,
  consecutiveFailures = 0,
): CircuitView {
  return { state, isolated: false, consecutiveFailures, retryAfterMs };
}
