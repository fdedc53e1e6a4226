import type { BucketMap } from './bucket-map.js';
import type { BucketQueue } from './bucket-queue.js';
import { bucketNames, type KvMetadata, readMetadata } from './kv-metadata.js';
import { MetadataClock } from './metadata-clock.js';
import { type PendingRecord, UNPLACED } from './pending-record.js';
import type { RecordLedger } from './record-ledger.js';
import type { ThrottleStage } from './throttle-stage.js';
import type { WriterConfig } from './writer-config.js';
import { unknownBucket } from './writer-failures.js';
import type { Exchange, WriterTransport } from './writer-ports.js';

export interface BucketMetadataOptions {
  readonly config: Pick<WriterConfig, 'metadataRefreshMs' | 'minRetryMs' | 'requestTimeoutMs'>;
  readonly transport: Pick<WriterTransport, 'describe' | 'retain'>;
  readonly throttle: ThrottleStage;
  readonly ledger: RecordLedger;
  nowMs(): number;
  /** Pause after so many failures, ms. */
  pauseMs(failures: number): number;
  /** The bucket of a record is known now. `wasHeld`: it had room already, and keeps it. */
  place(record: PendingRecord, queue: BucketQueue, wasHeld: boolean): void;
  /** Something has changed for the bucket. */
  changed(queue: BucketQueue): void;
  /** The request is over, well or not. */
  settled(): void;
}

/** A server that is asked for metadata and does not answer must not keep the next one from being asked. */
const DESCRIBE_MS = 5000;

/** Keeps up with which buckets there are and who leads them, and gives up what belongs to none. */
export class BucketMetadata {
  readonly #options: BucketMetadataOptions;
  readonly #clock: MetadataClock;
  #error: Error | undefined;

  constructor(options: BucketMetadataOptions) {
    const { metadataRefreshMs, minRetryMs } = options.config;
    this.#options = options;
    this.#clock = new MetadataClock(metadataRefreshMs, minRetryMs);
  }

  /** Why nothing newer is known; undefined: the last request went well. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** The number of the request that will answer for what is true now. */
  want(): number {
    return this.#clock.want();
  }

  /** When to ask next; Infinity: no need. */
  dueMs(isIdle: boolean): number {
    return this.#clock.dueMs(isIdle);
  }

  ask(buckets: BucketMap): void {
    const { config, transport } = this.#options;
    const number = this.#clock.begin();
    const timeoutMs = Math.min(config.requestTimeoutMs, DESCRIBE_MS);
    transport.describe(timeoutMs, (end) => this.#onEnd(buckets, number, end));
  }

  #onEnd(buckets: BucketMap, number: number, end: Exchange): void {
    const { nowMs, pauseMs, settled } = this.#options;
    const metadata = metadataOf(end);
    if (metadata instanceof Error) {
      this.#error = metadata;
      this.#clock.fail(nowMs(), pauseMs(this.#clock.failures));
    } else {
      this.#error = undefined;
      this.#clock.succeed(nowMs());
      this.#learn(buckets, metadata, number);
    }
    settled();
  }

  #learn(buckets: BucketMap, metadata: KvMetadata, number: number): void {
    const { throttle, transport, changed } = this.#options;
    buckets.learn(metadata);
    throttle.keepOnly(bucketNames(metadata));
    const leaders = new Set([...metadata.values()].flatMap((ofTable) => [...ofTable.values()]));
    transport.retain(leaders);
    for (const queue of buckets.all()) {
      // A request that began before the bucket was asked for says nothing of it.
      const isDue = queue.awaiting === undefined || queue.awaiting <= number;
      if (queue.bucket === UNPLACED && buckets.isKnown(queue.table)) this.#place(buckets, queue);
      else if (isDue && buckets.leaderOf(queue) === undefined) this.#drop(buckets, queue);
      else if (isDue) queue.awaiting = undefined;
      changed(queue);
    }
  }

  /** Now it is known which buckets the table has. */
  #place(buckets: BucketMap, unplaced: BucketQueue): void {
    const { ledger, place } = this.#options;
    for (const record of unplaced.open(false)) {
      let queue: BucketQueue;
      try {
        queue = buckets.queueFor(unplaced.table, record.key, record.bucket);
      } catch (error) {
        ledger.fail(record, error);
        continue;
      }
      const wasHeld = record.place !== 'overflow';
      unplaced.expel(record);
      place(record, queue, wasHeld);
    }
  }

  /** It is in no metadata. What is under way waits for its answer. */
  #drop(buckets: BucketMap, queue: BucketQueue): void {
    const { ledger, throttle } = this.#options;
    const { table, bucket } = queue;
    const reason = buckets.isKnown(table)
      ? `table ${table} has no bucket ${bucket}`
      : `there is no table ${table}`;
    for (const record of queue.open(false)) ledger.fail(record, unknownBucket(record, reason));
    queue.parts = [];
    throttle.forget(queue);
  }
}

function metadataOf(end: Exchange): KvMetadata | Error {
  if (end.kind !== 'response') return end.error;
  try {
    return readMetadata(end.response);
  } catch (error) {
    return error as Error;
  }
}
