/** Which addresses are kept, and which one goes first when there is no room. Pure. */
import { probeDeadlineMs } from './admit-call.js';
import type { BreakerParams, RetentionParams } from './breaker-params.js';
import type { CircuitState } from './circuit-state.js';
import { cooldownEndMs } from './cooldown.js';

/** Whether something bad is known of the address. What is not tracked may still be kept, to know late results by it. */
export function isTracked(state: CircuitState): boolean {
  return state.kind !== 'closed' || state.failures > 0;
}

export interface KeptCircuit {
  readonly state: CircuitState;
  /** When a call of it was admitted, or counted, last. */
  readonly touchedAtMs: number;
  readonly salt: number;
}

/** Whether it may be forgotten: idle for long enough, and neither cooling down nor waiting for its probe. */
export function isIdle(
  { state, touchedAtMs, salt }: KeptCircuit,
  params: BreakerParams & Pick<RetentionParams, 'idleMs'>,
  nowMs: number,
): boolean {
  if (nowMs - touchedAtMs < params.idleMs) return false;
  switch (state.kind) {
    case 'closed':
      return true;
    case 'isolated':
      return false;
    case 'open':
      return nowMs >= cooldownEndMs(state, params, salt);
    case 'half_open':
      return nowMs >= probeDeadlineMs(state, params);
  }
}

/** Negative when `a` goes before `b`: recovered, closed, open, half-open, each the oldest first. */
export function evictionOrder(a: KeptCircuit, b: KeptCircuit): number {
  return evictionRank(a.state) - evictionRank(b.state) || a.touchedAtMs - b.touchedAtMs;
}

/** What somebody opened by hand is forgotten for nothing but his own `close`. */
export function isEvictable({ state }: KeptCircuit): boolean {
  return state.kind !== 'isolated';
}

function evictionRank(state: CircuitState): number {
  switch (state.kind) {
    case 'closed':
      return state.failures === 0 ? 0 : 1;
    case 'open':
      return 2;
    case 'half_open':
      return 3;
    case 'isolated':
      return 4;
  }
}
