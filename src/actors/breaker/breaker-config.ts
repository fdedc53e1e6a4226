import type { BreakerParams, RetentionParams } from '../../shared/breaker/breaker-params.js';

/** The `breaker` section of the options, resolved and checked. */
export interface BreakerConfig extends BreakerParams, RetentionParams {
  readonly enabled: boolean;
}

/** How often idle circuits are looked for while there is any: none is kept for a quarter longer than it has to be. */
export function sweepIntervalMs({ idleMs }: Pick<BreakerConfig, 'idleMs'>): number {
  return Math.min(Math.max(idleMs / 4, SHORTEST_SWEEP_MS), LONGEST_SWEEP_MS);
}

const SHORTEST_SWEEP_MS = 10;
const LONGEST_SWEEP_MS = 60_000;
