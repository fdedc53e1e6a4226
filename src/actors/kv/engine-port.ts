import type { LevelZeroTriggers } from '../../shared/pressure/level-zero-triggers.js';
import type { KvRecord, KvRow } from './kv-record.js';

/** How the engine stands. */
export interface EngineSample {
  /** Files at level 0. */
  readonly l0Files: number;
  /** A write would have to wait in the engine. */
  readonly stalled: boolean;
}

/** One atomic write: all of the records and the offset, or nothing. */
export interface EngineBatch {
  readonly records: readonly KvRecord[];
  /** Everything below this offset is in the store once the batch is. */
  readonly flushedUpTo: number;
}

/** `refused`: the engine would have held the writer up, nothing was written. */
export interface EngineWriteOutcome {
  readonly kind: 'written' | 'refused';
  readonly sample: EngineSample;
}

export interface KeyRange {
  /** Inclusive. */
  readonly start: Uint8Array;
  /** Exclusive; without it to the last key. */
  readonly end?: Uint8Array;
  /** Most rows, an integer >= 1. */
  readonly limit: number;
}

/**
 * Port: the store behind one tablet. Nothing here blocks the caller's thread. A promise that rejects means that the
 * engine is broken; a store that is merely busy refuses a write by value.
 */
export interface EnginePort {
  readonly triggers: LevelZeroTriggers;
  /** As of the last write that survived; 0 for an empty store. */
  readonly flushedUpTo: number;
  sample(): Promise<EngineSample>;
  /** How long writers have been held up in the engine so far, all of them together, ms. */
  stalledMs(): Promise<number>;
  write(batch: EngineBatch): Promise<EngineWriteOutcome>;
  /** Values in the order of the keys, null where there is none. */
  get(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | null)[]>;
  /** Rows in the order of their keys, compared as bytes. */
  iterate(range: KeyRange): Promise<readonly KvRow[]>;
  /** What was written before the call survives a loss of power when it resolves. */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}
