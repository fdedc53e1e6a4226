import { BucketQueue } from './bucket-queue.js';
import type { BufferRoom } from './buffer-room.js';
import type { KvMetadata } from './kv-metadata.js';
import { UNPLACED } from './pending-record.js';

export interface BucketMapOptions {
  readonly room: BufferRoom;
  readonly partition: (key: Uint8Array, buckets: number) => number;
  /** Asks for metadata; returns the number of the request that will answer. */
  readonly want: () => number;
}

/** The buckets that something is to be written to, and who leads them. */
export class BucketMap {
  readonly #options: BucketMapOptions;
  readonly #tables = new Map<string, Map<number, BucketQueue>>();
  #metadata: KvMetadata = new Map();

  constructor(options: BucketMapOptions) {
    this.#options = options;
  }

  /** What is known of tables and leaders. */
  get metadata(): KvMetadata {
    return this.#metadata;
  }

  learn(metadata: KvMetadata): void {
    this.#metadata = metadata;
  }

  all(): BucketQueue[] {
    return [...this.#tables.values()].flatMap((ofTable) => [...ofTable.values()]);
  }

  leaderOf({ table, bucket }: BucketQueue): string | undefined {
    return this.#metadata.get(table)?.get(bucket);
  }

  isKnown(table: string): boolean {
    return (this.#metadata.get(table)?.size ?? 0) > 0;
  }

  /** Where a record belongs. Throws what `partition` throws, or a RangeError for what it returns. */
  queueFor(table: string, key: Uint8Array, bucket: number | undefined): BucketQueue {
    const buckets = this.#metadata.get(table)?.size ?? 0;
    // Also those that name their bucket: none may overtake one that gets the same bucket by its key.
    if (buckets === 0) return this.#queue(table, UNPLACED);
    if (bucket !== undefined) return this.#queue(table, bucket);
    const chosen = this.#options.partition(key, buckets);
    if (Number.isInteger(chosen) && chosen >= 0 && chosen < buckets) {
      return this.#queue(table, chosen);
    }
    const rule = `an integer from 0 to ${buckets - 1}`;
    throw new RangeError(`partition must return ${rule}, got ${String(chosen)}`);
  }

  /** Nothing is kept of a bucket that is in no metadata and has nothing to send. Returns whether it was forgotten. */
  forget(queue: BucketQueue): boolean {
    if (this.leaderOf(queue) !== undefined || !queue.isEmpty) return false;
    const ofTable = this.#tables.get(queue.table);
    if (ofTable?.get(queue.bucket) !== queue) return false;
    ofTable.delete(queue.bucket);
    if (ofTable.size === 0) this.#tables.delete(queue.table);
    return true;
  }

  clear(): void {
    this.#tables.clear();
  }

  #queue(table: string, bucket: number): BucketQueue {
    let ofTable = this.#tables.get(table);
    if (ofTable === undefined) {
      ofTable = new Map();
      this.#tables.set(table, ofTable);
    }
    let queue = ofTable.get(bucket);
    if (queue === undefined) {
      queue = new BucketQueue(table, bucket, this.#options.room);
      ofTable.set(bucket, queue);
      if (this.leaderOf(queue) === undefined) queue.awaiting = this.#options.want();
    }
    return queue;
  }
}
