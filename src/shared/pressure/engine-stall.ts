import { engineTrigger } from './flush-budget.js';
import type { LevelZeroTriggers } from './level-zero-triggers.js';

/** What an engine says about itself just before a write. */
export interface EngineVitals {
  readonly l0Files: number;
  /** Memtables that are full and not yet files. */
  readonly immutableMemtables: number;
  /** Bytes per second to which it slows writers down; 0: it does not. */
  readonly delayedWriteRate: number;
  readonly isWriteStopped: boolean;
}

/**
 * Memtables that stay free: from one below its maximum on the engine slows writers down, and the write itself may fill
 * one. A smaller maximum than {@link LEAST_WRITE_BUFFERS} leaves nothing to write with.
 */
const SPARE_MEMTABLES = 2;

export const LEAST_WRITE_BUFFERS = 4;

/**
 * Whether a write that is made now would be held up in the engine, or bring it to where the next one is: every memtable,
 * the one being written included, is a level-0 file soon.
 */
export function wouldStall(triggers: LevelZeroTriggers, vitals: EngineVitals): boolean {
  if (vitals.isWriteStopped || vitals.delayedWriteRate > 0) return true;
  if (vitals.immutableMemtables >= triggers.maxWriteBufferNumber - SPARE_MEMTABLES) return true;
  const trigger = engineTrigger(triggers);
  return trigger !== undefined && vitals.l0Files + vitals.immutableMemtables + 1 >= trigger;
}
