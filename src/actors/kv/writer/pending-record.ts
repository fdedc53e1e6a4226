import type { KvRecord } from '../kv-record.js';
import type { FlushEpoch } from './flush-epochs.js';

/** Where a record is. `overflow`: it waits for room; `part`: it was tried and is tried again, before all that waits. */
export type RecordPlace = 'overflow' | 'waiting' | 'part' | 'flying';

/** The bucket that a record belongs to. */
export interface RecordHome {
  readonly table: string;
  /** `UNPLACED`: it is not known yet. */
  readonly bucket: number;
  readonly name: string;
  /** The record has just been settled. */
  leave(record: PendingRecord): void;
}

/** Stands for the bucket of a table whose buckets are not known yet. */
export const UNPLACED = -1;

export interface PutResult {
  readonly bucket: number;
  /** Number of the bucket's next record when the batch had been taken: everything below is durable. */
  readonly logEndOffset: number;
}

/** What a record counts in the buffer beside its bytes: about what it costs to keep. */
export const RECORD_OVERHEAD = 64;

/** A record from its put until its promise is settled and it is in no request. */
export class PendingRecord implements KvRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
  readonly bytes: number;
  /** As the caller chose it. */
  readonly bucket: number | undefined;
  /** Counts the puts of the writer. */
  readonly sequence: number;
  readonly expiresAtMs: number;
  readonly epoch: FlushEpoch;
  readonly resolve: (result: PutResult) => void;
  readonly reject: (error: unknown) => void;
  home: RecordHome;
  place: RecordPlace = 'overflow';
  isSettled = false;
  /** An attempt was made whose answer never came. */
  maybeTaken = false;
  unwatch: (() => void) | undefined = undefined;

  constructor(
    key: Uint8Array,
    value: Uint8Array | null,
    bucket: number | undefined,
    expiresAtMs: number,
    epoch: FlushEpoch,
    sequence: number,
    home: RecordHome,
    resolve: (result: PutResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.key = key;
    this.value = value;
    this.bytes = recordRoom(key, value);
    this.bucket = bucket;
    this.sequence = sequence;
    this.expiresAtMs = expiresAtMs;
    this.epoch = epoch;
    this.home = home;
    this.resolve = resolve;
    this.reject = reject;
  }
}

/** What a record takes of the buffer. */
export function recordRoom(key: Uint8Array, value: Uint8Array | null): number {
  return key.length + (value === null ? 0 : value.length) + RECORD_OVERHEAD;
}
