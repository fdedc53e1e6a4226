import type { CircuitSnapshot } from '../../../../../workers/snapshot.js';
import type { RecordedEvent } from '../../../../../workers/state/runtime-state.js';

export interface CircuitRow extends CircuitSnapshot {
  /** Of its last opening; undefined: not known. */
  readonly reason: string | undefined;
  /** Of its first opening since it was closed, as far back as events are kept; undefined: not known. */
  readonly openedMs: number | undefined;
  /** In a row; of an open one those that opened it. undefined: not known. */
  readonly failures: number | undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  failures: 'calls failed',
  'probe-failed': 'probe failed',
  'probe-lost': 'probe did not answer',
  'by-hand': 'opened by hand',
};
const ORDER = { open: 0, half_open: 1, closed: 2 } as const;

export function openReason(reason: string): string {
  return REASONS[reason] ?? reason;
}

interface Opening {
  readonly reason: string;
  readonly failures: number;
  /** Each probe that fails opens it anew: it has been open since the first time. */
  readonly sinceMs: number;
}

/** Open ones first, then what fails most. @param events oldest first. */
export function circuitRows(
  circuits: readonly CircuitSnapshot[],
  events: readonly RecordedEvent[],
): CircuitRow[] {
  const openings = new Map<string, Opening>();
  for (const { name, event } of events) {
    if (name === 'circuit-open') {
      const { address, reason, failures, atMs } = event;
      openings.set(address, {
        reason,
        failures,
        sinceMs: openings.get(address)?.sinceMs ?? atMs,
      });
    } else if (name === 'circuit-closed') openings.delete(event.address);
  }
  return circuits
    .map((circuit) => {
      const opening = openings.get(circuit.address);
      const byHand = circuit.isolated ? 'by-hand' : undefined;
      const reason = byHand ?? opening?.reason;
      return {
        ...circuit,
        reason: reason === undefined ? undefined : openReason(reason),
        openedMs: opening?.sinceMs,
        failures: circuit.state === 'closed' ? circuit.consecutiveFailures : opening?.failures,
      };
    })
    .sort(
      (a, b) =>
        ORDER[a.state] - ORDER[b.state] ||
        b.consecutiveFailures - a.consecutiveFailures ||
        (a.address < b.address ? -1 : 1),
    );
}
