/** What the outcome of an admitted call does to the circuit of its address. Pure. */
import { probeDeadlineMs } from './admit-call.js';
import type { BreakerParams } from './breaker-params.js';
import {
  type CircuitState,
  type ClosedCircuit,
  type HalfOpenCircuit,
  isEarlierEpoch,
  MAX_FAILED_PROBES,
  MAX_FAILURES,
  MAX_GOOD_PROBES,
  type OpenCircuit,
  wholeTick,
} from './circuit-state.js';
import type { WindowCounts } from './failure-window.js';

/**
 * `ignored` says nothing about the peer: the caller has gone, the call was refused locally, a business error. Who was told
 * to come back later (busy, refused) has an answer of a living peer: `success`.
 */
export type CircuitOutcome = 'success' | 'failure' | 'ignored';

/** What an admitted call must show again when it ends. */
export type PermitTerms =
  /** Admitted by a closed circuit, in this epoch. */
  | { readonly kind: 'closed'; readonly epoch: number }
  /** The probe of this state of the circuit. */
  | { readonly kind: 'probe'; readonly probing: HalfOpenCircuit };

/**
 * - `none`: nothing has changed.
 * - `late`: of an earlier state of the circuit; nothing has changed.
 * - `failed`: one failure more. `reset`: none any more.
 * - `opened`: by a call. `reopened`: by a probe. `closed`: by a probe.
 * - `progressed`: a good probe, but more are asked for. `released`: the next call may be the probe.
 */
export type SettleEffect =
  | 'none'
  | 'late'
  | 'failed'
  | 'reset'
  | 'opened'
  | 'reopened'
  | 'closed'
  | 'progressed'
  | 'released';

export interface Settlement {
  readonly next: CircuitState;
  readonly effect: SettleEffect;
  /** Failures, of calls or of probes, that an opening is owed to; else 0. */
  readonly failures: number;
}

export interface Settling {
  readonly nowMs: number;
  readonly params: BreakerParams;
  /** The epoch that begins if this closes the circuit. */
  readonly nextEpoch: number;
  /** In failure-rate mode: the window, this outcome included. */
  readonly counts?: WindowCounts | undefined;
}

export function decideSettlement(
  state: CircuitState,
  permit: PermitTerms,
  outcome: CircuitOutcome,
  settling: Settling,
): Settlement {
  if (permit.kind === 'probe') return settleProbe(state, permit.probing, outcome, settling);
  if (outcome === 'ignored') return unchanged(state, 'none');
  if (state.kind !== 'closed' || isLate(state, permit.epoch)) {
    return unchanged(state, 'late');
  }
  return outcome === 'success' ? onSuccess(state, settling) : onFailure(state, settling);
}

/** Whether the call was admitted before the circuit closed last, and so before it was open. */
export function isLate({ closedEpoch }: ClosedCircuit, epoch: number): boolean {
  return closedEpoch !== undefined && isEarlierEpoch(epoch, closedEpoch);
}

/** Whether it belongs into the window of the failure-rate mode. */
export function countsInWindow(
  state: CircuitState,
  permit: PermitTerms,
  outcome: CircuitOutcome,
  { failureRate }: BreakerParams,
): boolean {
  return (
    failureRate > 0 &&
    outcome !== 'ignored' &&
    permit.kind === 'closed' &&
    state.kind === 'closed' &&
    !isLate(state, permit.epoch) &&
    // The window begins with the first failure: a healthy address keeps no counts.
    (outcome === 'failure' || state.failures > 0)
  );
}

function onSuccess(state: ClosedCircuit, { counts }: Settling): Settlement {
  const remembers = counts !== undefined && counts.failures > 0;
  if (state.failures === 0 || remembers) return unchanged(state, 'none');
  return { next: { ...state, failures: 0 }, effect: 'reset', failures: 0 };
}

function onFailure(state: ClosedCircuit, { nowMs, params, counts }: Settling): Settlement {
  // A window that this outcome came too late for still has this failure.
  const count = counts === undefined ? state.failures + 1 : Math.max(counts.failures, 1);
  const failures = Math.min(count, MAX_FAILURES);
  const opens =
    counts === undefined
      ? failures >= params.failureThreshold
      : counts.total >= params.minimumCalls && counts.failures >= params.failureRate * counts.total;
  if (!opens) return { next: { ...state, failures }, effect: 'failed', failures: 0 };
  return {
    next: { kind: 'open', openedAtMs: wholeTick(nowMs), failedProbes: 0, goodProbes: 0 },
    effect: 'opened',
    failures,
  };
}

function settleProbe(
  state: CircuitState,
  probing: HalfOpenCircuit,
  outcome: CircuitOutcome,
  { nowMs, params, nextEpoch }: Settling,
): Settlement {
  if (!isSameProbe(state, probing) || nowMs >= probeDeadlineMs(probing, params)) {
    return unchanged(state, 'late');
  }
  const { openedAtMs, failedProbes, goodProbes } = probing;
  if (outcome === 'failure') {
    const failures = Math.min(failedProbes + 1, MAX_FAILED_PROBES);
    return {
      next: {
        kind: 'open',
        openedAtMs: wholeTick(nowMs),
        failedProbes: failures,
        goodProbes: 0,
      },
      effect: 'reopened',
      failures,
    };
  }
  if (outcome === 'ignored') return { next: released(probing), effect: 'released', failures: 0 };
  if (goodProbes + 1 >= params.probesToClose) {
    const closed: ClosedCircuit = { kind: 'closed', failures: 0, closedEpoch: nextEpoch };
    return { next: closed, effect: 'closed', failures: 0 };
  }
  const good = Math.min(goodProbes + 1, MAX_GOOD_PROBES);
  return {
    next: { kind: 'open', openedAtMs, failedProbes, goodProbes: good },
    effect: 'progressed',
    failures: 0,
  };
}

function unchanged(state: CircuitState, effect: 'none' | 'late'): Settlement {
  return { next: state, effect, failures: 0 };
}

/** The probe is gone without an answer; its circuit has served its cooldown, so the next call is the probe. */
export function released({ openedAtMs, failedProbes, goodProbes }: HalfOpenCircuit): OpenCircuit {
  return { kind: 'open', openedAtMs, failedProbes, goodProbes };
}

function isSameProbe(state: CircuitState, probing: HalfOpenCircuit): boolean {
  return (
    state.kind === 'half_open' &&
    state.probeAtMs === probing.probeAtMs &&
    state.owner === probing.owner &&
    state.failedProbes === probing.failedProbes &&
    state.goodProbes === probing.goodProbes
  );
}
