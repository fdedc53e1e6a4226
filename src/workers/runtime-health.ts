import type { ConservationSnapshot } from './snapshot.js';

/**
 * `no-control-thread`: it has died and its successor is not there yet; limits in force stay in force. `closing`: the
 * runtime takes no more calls, or is closed.
 */
export type RuntimeStatus = 'ok' | 'no-control-thread' | 'closing';

/** What a probe asks for, often; reading it takes no longer when much is slowed. */
export interface RuntimeHealth {
  readonly status: RuntimeStatus;
  /** Since the runtime's epoch. */
  readonly atMs: number;
  /** Which control thread this is, counted from 1. */
  readonly controlGeneration: number;
  readonly conservation: ConservationSnapshot;
}
