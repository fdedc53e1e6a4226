import type { BufferRoom } from './buffer-room.js';
import type { Due } from './due-heap.js';
import { bucketName } from './kv-metadata.js';
import { type PendingRecord, type RecordHome, UNPLACED } from './pending-record.js';
import { RecordLine } from './record-line.js';

export interface Batch {
  readonly records: readonly PendingRecord[];
  /** All of them are in the buffer until the attempt is over. */
  readonly bytes: number;
}

/** Far below what a server takes. */
const MAX_BATCH_RECORDS = 10_000;

/** What is to be written to one bucket, in order: the attempt under way, parts to be tried again, what waits, what has no room. */
export class BucketQueue implements Due, RecordHome {
  readonly table: string;
  readonly bucket: number;
  /** Of the table alone, as long as the bucket is not known. */
  readonly name: string;
  dueMs = 0;
  heapIndex = -1;
  flying: Batch | undefined = undefined;
  parts: (readonly PendingRecord[])[] = [];
  readonly waiting: RecordLine = new RecordLine();
  readonly overflow: RecordLine = new RecordLine();
  /** Pause after a failure. */
  notBeforeMs = 0;
  /** Attempts in a row that came to nothing. */
  failures = 0;
  /** The server did not know the bucket, and metadata has been asked for since. */
  isDoubted = false;
  /** Nothing is sent before this request for metadata has been answered. */
  awaiting: number | undefined = undefined;
  /** The last window, until a batch has gone after it. */
  throttle: { readonly fromMs: number; readonly untilMs: number } | undefined = undefined;
  /** As the server said last; unchecked. */
  lastError: Error | undefined = undefined;

  readonly #room: BufferRoom;
  #held = 0;
  /** Let in without room. */
  #guest: PendingRecord | undefined = undefined;

  constructor(table: string, bucket: number, room: BufferRoom) {
    this.table = table;
    this.bucket = bucket;
    this.name = bucket === UNPLACED ? table : bucketName(table, bucket);
    this.#room = room;
  }

  /** Bytes of it that are in the buffer. */
  get held(): number {
    return this.#held;
  }

  /** Whether a record that comes now need not wait for room. */
  hasRoom(bytes: number): boolean {
    return this.overflow.live === 0 && this.#room.fits(this.#held, bytes);
  }

  /** Behind all that waits; there is room for it. */
  hold(record: PendingRecord): void {
    this.#room.take(record.bytes);
    this.#held += record.bytes;
    record.home = this;
    record.place = 'waiting';
    this.waiting.push(record);
  }

  /** Behind all that waits for room. */
  crowd(record: PendingRecord): void {
    record.home = this;
    record.place = 'overflow';
    this.overflow.push(record);
  }

  /** Lets in those that there is room for now; returns how many. */
  admit(): number {
    let admitted = 0;
    for (let next = this.overflow.first(); next !== undefined; next = this.overflow.first()) {
      if (!this.#room.fits(this.#held, next.bytes)) break;
      this.overflow.shift();
      this.hold(next);
      admitted += 1;
    }
    return admitted;
  }

  /** Whether one that waits may be let in without room: nothing else of the bucket is in the buffer, and no other guest. */
  get mayHaveGuest(): boolean {
    return this.#held === 0 && this.overflow.live > 0 && !this.#room.isLent;
  }

  admitGuest(): void {
    const guest = this.overflow.shift();
    if (guest === undefined) return;
    this.#room.lend(guest.bytes);
    this.#guest = guest;
    this.hold(guest);
  }

  /** A record that waits for it to be known which bucket it belongs to is taken away. */
  expel(record: PendingRecord): void {
    if (record.place === 'overflow') this.overflow.shift();
    else {
      this.waiting.shift();
      this.#release(record);
    }
  }

  leave(record: PendingRecord): void {
    switch (record.place) {
      case 'overflow':
        this.overflow.forget(record);
        return;
      case 'waiting':
        this.waiting.forget(record);
        this.#release(record);
        return;
      case 'part':
        this.#release(record);
        return;
      case 'flying':
      // Its bytes are in a request: they go with that.
    }
  }

  /** The attempt is over and was taken: it leaves the buffer. */
  land(batch: Batch): void {
    this.flying = undefined;
    for (const record of batch.records) this.#release(record);
  }

  /** The attempt is over and came to nothing. Returns the records whose promise is open, the others leave the buffer. */
  recall(batch: Batch): readonly PendingRecord[] {
    this.flying = undefined;
    for (const record of batch.records) {
      record.place = 'part';
      if (record.isSettled) this.#release(record);
    }
    return batch.records.filter(isOpen);
  }

  #release(record: PendingRecord): void {
    this.#held -= record.bytes;
    this.#room.release(record.bytes);
    if (record !== this.#guest) return;
    this.#guest = undefined;
    this.#room.repay();
  }

  get isEmpty(): boolean {
    return (
      this.flying === undefined &&
      this.parts.length === 0 &&
      this.waiting.live === 0 &&
      this.overflow.live === 0
    );
  }

  /** Whether a full batch waits. */
  isFull(batchBytes: number): boolean {
    return this.waiting.bytes >= batchBytes || this.waiting.live >= MAX_BATCH_RECORDS;
  }

  /** The oldest record whose promise is open; its deadline is the earliest. */
  oldest(): PendingRecord | undefined {
    const flying = this.flying?.records.find(isOpen);
    if (flying !== undefined) return flying;
    for (let part = this.parts[0]; part !== undefined; part = this.parts[0]) {
      const record = part.find(isOpen);
      if (record !== undefined) return record;
      // All of it was given up: it is neither kept nor a reason to send what waits.
      this.parts.shift();
    }
    return this.waiting.first() ?? this.overflow.first();
  }

  /** Takes away what is sent next: the oldest part, or a new batch of what waits. undefined: nothing is left of it. */
  nextBatch(batchBytes: number): Batch | undefined {
    for (let part = this.parts.shift(); part !== undefined; part = this.parts.shift()) {
      const records = part.filter(isOpen);
      if (records.length > 0) return fly(records);
    }
    const records: PendingRecord[] = [];
    let bytes = 0;
    for (let next = this.waiting.first(); next !== undefined; next = this.waiting.first()) {
      if (records.length > 0 && bytes + next.bytes > batchBytes) break;
      if (records.length === MAX_BATCH_RECORDS) break;
      this.waiting.shift();
      records.push(next);
      bytes += next.bytes;
    }
    return records.length > 0 ? fly(records) : undefined;
  }

  /** Open records whose deadline has come; each is settled before the next is asked for. */
  *expired(nowMs: number): Generator<PendingRecord> {
    const oldest = this.oldest();
    if (oldest === undefined || oldest.expiresAtMs > nowMs) return;
    for (const record of this.open(true)) {
      if (record.expiresAtMs > nowMs) return;
      yield record;
    }
  }

  /**
   * All records whose promise is open, oldest first; those of the attempt under way only if asked for. Each is settled or
   * taken away before the next is asked for.
   */
  *open(withFlying: boolean): Generator<PendingRecord> {
    if (withFlying && this.flying !== undefined) yield* this.flying.records.filter(isOpen);
    for (const part of this.parts) yield* part.filter(isOpen);
    for (const line of [this.waiting, this.overflow]) {
      for (let next = line.first(); next !== undefined; next = line.first()) yield next;
    }
  }
}

function isOpen({ isSettled }: PendingRecord): boolean {
  return !isSettled;
}

function fly(records: readonly PendingRecord[]): Batch {
  let bytes = 0;
  for (const record of records) {
    record.place = 'flying';
    bytes += record.bytes;
  }
  return { records, bytes };
}
