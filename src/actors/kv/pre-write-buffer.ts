import { IllegalStateError } from '../../shared/errors.js';
import {
  type FlushSegment,
  type RowChange,
  rowDiff,
  type SegmentLimits,
  splitSegments,
} from './flush-segment.js';

/** A write that is not in the store yet. `value` null: a delete. */
export interface BufferedWrite<Value> {
  readonly key: string;
  readonly value: Value | null;
  readonly lsn: number;
  readonly change: RowChange;
}

interface Entry<Value> extends BufferedWrite<Value> {
  readonly bytes: number;
  /** Neighbours of the same key that are still in the buffer. */
  older: Entry<Value> | undefined;
  newer: Entry<Value> | undefined;
}

export type TruncateReason = 'duplicated' | 'error';

export interface PreWriteBufferOptions<Value> {
  readonly bytesOf: (key: string, value: Value | null) => number;
}

/** Slots that completed entries may leave behind before the array is cut. */
const SLACK = 1024;

/**
 * Writes between the log and the store, in the order of their sequence numbers. Reads see the newest of a key. A flush
 * takes a prefix in two phases: prepared entries stay readable until they are completed, or go back when it is aborted.
 * A truncation rolls back the tail, as if it had never been put; it never reaches prepared entries.
 */
export class PreWriteBuffer<Value> {
  readonly #bytesOf: (key: string, value: Value | null) => number;
  readonly #newest = new Map<string, Entry<Value>>();
  #entries: Entry<Value>[] = [];
  /** Index of the oldest entry; those before it are completed. */
  #head = 0;
  /** Entries from `#head` on that a flush has taken. */
  #prepared = 0;
  #preparedUpTo = 0;
  /** Segments of the last split that are not completed. */
  #segments: FlushSegment[] | undefined;
  #pendingBytes = 0;
  readonly #truncated = { duplicated: 0, error: 0 };

  constructor({ bytesOf }: PreWriteBufferOptions<Value>) {
    this.#bytesOf = bytesOf;
  }

  /** Writes in the buffer, prepared ones included. */
  get entries(): number {
    return this.#entries.length - this.#head;
  }

  /** Bytes of their keys and values. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Sequence number of the last write, -1 when there is none. */
  get maxLsn(): number {
    return this.entries === 0 ? -1 : (this.#entries[this.#entries.length - 1] as Entry<Value>).lsn;
  }

  /** Entries that truncations have dropped so far. */
  get truncated(): { readonly duplicated: number; readonly error: number } {
    return { ...this.#truncated };
  }

  /** `RangeError` unless `lsn` is an integer above `maxLsn`. */
  put(key: string, value: Value | null, lsn: number, change: RowChange): void {
    if (!Number.isSafeInteger(lsn) || lsn <= this.maxLsn) {
      throw new RangeError(`lsn must be an integer above ${this.maxLsn}, got ${String(lsn)}`);
    }
    const bytes = this.#bytesOf(key, value);
    const older = this.#newest.get(key);
    const entry: Entry<Value> = { key, value, lsn, change, bytes, older, newer: undefined };
    if (older !== undefined) older.newer = entry;
    this.#newest.set(key, entry);
    this.#entries.push(entry);
    this.#pendingBytes += bytes;
  }

  /** The newest value, null where it is deleted; undefined: the buffer knows nothing of the key. */
  get(key: string): Value | null | undefined {
    return this.#newest.get(key)?.value;
  }

  /** The newest write of every key, in no order. */
  newest(): IterableIterator<BufferedWrite<Value>> {
    return this.#newest.values();
  }

  /** Sequence number that the first `count` writes lie below; undefined: there are no more than that. */
  boundAfter(count: number): number | undefined {
    return this.#entries[this.#head + count]?.lsn;
  }

  /** First phase: takes what is below `upTo`. `IllegalStateError` when it meets what is prepared already. */
  prepare(upTo: number): { readonly count: number; readonly rowCountDiff: number } {
    const taken: Entry<Value>[] = [];
    for (let i = this.#head; i < this.#entries.length; i += 1) {
      const entry = this.#entries[i] as Entry<Value>;
      if (!(entry.lsn < upTo)) break;
      taken.push(entry);
    }
    if (this.#prepared > 0) {
      if (taken.length > 0) throw new IllegalStateError('prepare: entries are prepared already');
      return { count: 0, rowCountDiff: 0 };
    }
    this.#prepared = taken.length;
    this.#preparedUpTo = upTo;
    this.#segments = undefined;
    return { count: taken.length, rowCountDiff: sumOf(taken) };
  }

  /** Cuts what is prepared into segments. */
  split(limits: SegmentLimits): readonly FlushSegment[] {
    this.#segments = splitSegments(this.#preparedEntries(), this.#preparedUpTo, limits);
    return [...this.#segments];
  }

  /** The first `count` prepared writes, oldest first. */
  prepared(count: number = this.#prepared): readonly BufferedWrite<Value>[] {
    return this.#preparedEntries().slice(0, count);
  }

  /** Second phase: the store has the next `segments` of the last split, or all that is prepared. */
  complete(segments?: number): { readonly rowCountDiff: number } {
    const count = segments === undefined ? this.#prepared : this.#takeSegments(segments);
    const done = this.#entries.slice(this.#head, this.#head + count);
    for (const entry of done) this.#forgetOldest(entry);
    this.#head += count;
    this.#prepared -= count;
    if (segments === undefined) this.#segments = undefined;
    if (this.#head > SLACK && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    return { rowCountDiff: sumOf(done) };
  }

  /** Gives back what is still prepared. */
  abort(): void {
    this.#prepared = 0;
    this.#segments = undefined;
  }

  /** Drops the entries at `lsn` and above. `IllegalStateError`, and nothing changes, when one of them is prepared. */
  truncate(lsn: number, reason: TruncateReason): void {
    const lastPrepared = this.#entries[this.#head + this.#prepared - 1];
    if (this.#prepared > 0 && lastPrepared !== undefined && !(lastPrepared.lsn < lsn)) {
      throw new IllegalStateError('truncate: prepared entries cannot be dropped');
    }
    while (this.#entries.length > this.#head) {
      const entry = this.#entries[this.#entries.length - 1] as Entry<Value>;
      if (entry.lsn < lsn) return;
      this.#entries.pop();
      this.#forgetNewest(entry);
      this.#truncated[reason] += 1;
    }
  }

  #preparedEntries(): readonly Entry<Value>[] {
    return this.#entries.slice(this.#head, this.#head + this.#prepared);
  }

  #takeSegments(segments: number): number {
    const left = this.#segments ?? [];
    if (!Number.isInteger(segments) || segments < 0 || segments > left.length) {
      throw new RangeError(
        `segments must be an integer from 0 to ${left.length}, got ${String(segments)}`,
      );
    }
    return left.splice(0, segments).reduce((sum, { count }) => sum + count, 0);
  }

  #forgetOldest(entry: Entry<Value>): void {
    this.#pendingBytes -= entry.bytes;
    if (entry.newer === undefined) this.#newest.delete(entry.key);
    else entry.newer.older = undefined;
  }

  #forgetNewest(entry: Entry<Value>): void {
    this.#pendingBytes -= entry.bytes;
    if (entry.older === undefined) {
      this.#newest.delete(entry.key);
    } else {
      entry.older.newer = undefined;
      this.#newest.set(entry.key, entry.older);
    }
  }
}

function sumOf(entries: readonly { readonly change: RowChange }[]): number {
  return entries.reduce((sum, { change }) => sum + rowDiff(change), 0);
}
