/**
 * The state of one address' circuit, as every decision takes and gives it.
 *
 *     closed --threshold--> open --cooldown over, next call--> half-open --success--> closed
 *                            ^                                   |  |
 *                            +-------- failure, ignored ---------+  +--lost--> half-open, with the next call
 *
 * Times are ms since the runtime's epoch, whole ticks of {@link TICKS_PER_MS}, so that packing loses nothing.
 */
export type CircuitState = ClosedCircuit | OpenCircuit | HalfOpenCircuit | IsolatedCircuit;

export interface ClosedCircuit {
  readonly kind: 'closed';
  /** In a row; in failure-rate mode those in the window. 0: the address is healthy, and not tracked. */
  readonly failures: number;
  /**
   * The epoch that began when it closed last; undefined: it has never been open. A call that was admitted in an earlier
   * epoch is late: it is from before the opening.
   */
  readonly closedEpoch: number | undefined;
}

export interface OpenCircuit {
  readonly kind: 'open';
  readonly openedAtMs: number;
  /** In a row since it was closed: the cooldown may grow with them. */
  readonly failedProbes: number;
  /** In a row. */
  readonly goodProbes: number;
}

export interface HalfOpenCircuit {
  readonly kind: 'half_open';
  readonly openedAtMs: number;
  readonly failedProbes: number;
  readonly goodProbes: number;
  /** When its probe, the only one, was let through. */
  readonly probeAtMs: number;
  /** Place of the thread that makes the probe. */
  readonly owner: number;
}

/** Opened by hand, and stays so until it is closed by hand. */
export interface IsolatedCircuit {
  readonly kind: 'isolated';
  readonly sinceMs: number;
}

export const TICKS_PER_MS = 16;

/** The first whole tick that is not before `ms`: what is counted from it never ends early. */
export function wholeTick(ms: number): number {
  return Math.ceil(ms * TICKS_PER_MS) / TICKS_PER_MS;
}

/** Counts saturate here: what a packed word holds. */
export const MAX_FAILURES = 65_535;
export const MAX_FAILED_PROBES = 31;
export const MAX_GOOD_PROBES = 15;

/** The circuit of an address that nothing bad is known of. */
export const HEALTHY: ClosedCircuit = Object.freeze({
  kind: 'closed',
  failures: 0,
  closedEpoch: undefined,
});

/** Whether epoch `a` began before `b`. Epochs are 32-bit numbers that wrap. */
export function isEarlierEpoch(a: number, b: number): boolean {
  return ((a - b) | 0) < 0;
}
