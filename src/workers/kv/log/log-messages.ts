import type { WireThrown } from '../../error-codec.js';
import type { LogCut } from './log-store.js';

export interface LogThreadStart {
  readonly dir: string;
  readonly segmentBytes: number;
  /** What each tablet's store has already: batches below are not handed over. */
  readonly flushed: readonly (readonly [tablet: string, upTo: number])[];
}

/** Where a batch lies in the bytes of a segment. */
export interface FoundBatch {
  readonly tablet: string;
  readonly firstLsn: number;
  readonly count: number;
  readonly start: number;
  readonly end: number;
}

export type LogRequest =
  | { readonly kind: 'append'; readonly frame: Uint8Array }
  | { readonly kind: 'release'; readonly tablet: string; readonly lsn: number }
  | { readonly kind: 'close' };

export type LogReport =
  /** Before `opened`, any number of times: batches that a store does not have. */
  | { readonly kind: 'found'; readonly bytes: Uint8Array; readonly batches: readonly FoundBatch[] }
  | { readonly kind: 'opened'; readonly cuts: readonly LogCut[]; readonly logBytes: number }
  | { readonly kind: 'unusable'; readonly error: WireThrown }
  /** Appends are answered in order. */
  | {
      readonly kind: 'appended';
      readonly logBytes: number;
      readonly segments: number;
      readonly holders: readonly string[];
    }
  | { readonly kind: 'refused'; readonly error: WireThrown }
  | { readonly kind: 'closed'; readonly error?: WireThrown };
