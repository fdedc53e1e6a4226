import {
  KvBufferFullError,
  KvDeliveryTimeoutError,
  type KvOutcome,
  KvRecordError,
  KvUnknownBucketError,
  KvWriteError,
  KvWriterClosedError,
} from '../../../shared/kv-writer-errors.js';
import { ThrottleWindows } from '../../../shared/pressure/throttle-windows.js';
import { refuseKey } from '../put-limits.js';
import { type Batch, BucketQueue, UNPLACED } from './bucket-queue.js';
import { BufferRoom } from './buffer-room.js';
import { DueHeap } from './due-heap.js';
import { FlushEpochs } from './flush-epochs.js';
import { bucketNames, type KvMetadata, readMetadata } from './kv-metadata.js';
import { MetadataClock } from './metadata-clock.js';
import { PendingRecord, type PutResult, RECORD_OVERHEAD } from './pending-record.js';
import { type PutVerdict, readPutAnswer } from './put-answer.js';
import type { WriterConfig } from './writer-config.js';
import type { Exchange, WriterPorts } from './writer-ports.js';
import type { BucketPressure, KvWriterStats, WriterCounts } from './writer-stats.js';

export interface PutOptions {
  /** Default: `partition` chooses it by the key. */
  readonly bucket?: number;
  /** Gives the record up: its promise rejects with the signal's reason. In a request already, it may still be taken. */
  readonly signal?: AbortSignal;
}

/** A server that is asked for metadata and does not answer must not keep the next one from being asked. */
const DESCRIBE_MS = 5000;
const MOST_PRESSURES = 1000;
const IDLE: KvMetadata = new Map();

/**
 * The writer without its network: per bucket one attempt at a time and everything else in order behind it, so that one
 * bucket never waits for another. Nothing here is per record but its promise: deadlines are those of the oldest.
 */
export class KvWriterCore {
  readonly #config: WriterConfig;
  readonly #ports: WriterPorts;
  readonly #room: BufferRoom;
  readonly #windows: ThrottleWindows;
  readonly #pressures = new Map<BucketQueue, number>();
  readonly #clock: MetadataClock;
  readonly #epochs = new FlushEpochs();
  readonly #due = new DueHeap<BucketQueue>();
  readonly #queues = new Map<string, Map<number, BucketQueue>>();
  /** Those with puts that wait for room, longest first. */
  readonly #crowded = new Set<BucketQueue>();
  readonly #counts: WriterCounts = {
    given: 0,
    acknowledged: 0,
    failed: 0,
    attempts: 0,
    inFlight: 0,
    retries: 0,
    refusals: 0,
    throttledMs: 0,
  };
  #metadata: KvMetadata = IDLE;
  #metadataError: Error | undefined;
  /** Records up to this one do not linger. */
  #urgentUpTo = 0;
  #attempt = 0;
  #armedMs = Number.POSITIVE_INFINITY;
  #isArmedIdle = false;
  #isPumpSoon = false;
  #readyWaiters: (() => void)[] = [];
  #closing: Promise<void> | undefined;
  #closeAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;
  #resolveClosed: () => void = () => {};

  constructor(config: WriterConfig, ports: WriterPorts) {
    this.#config = config;
    this.#ports = ports;
    this.#room = new BufferRoom(config.bufferBytes);
    this.#windows = new ThrottleWindows(config.maxThrottleMs);
    this.#clock = new MetadataClock(config.metadataRefreshMs, config.minRetryMs);
  }

  /** Asks for metadata, so that the first put need not wait for it. */
  start(): void {
    this.#clock.want();
    this.#pumpSoon();
  }

  /** `value` null: a delete. See `KvWriter.put`. */
  put(
    table: string,
    key: Uint8Array,
    value: Uint8Array | null,
    { bucket, signal }: PutOptions = {},
  ): Promise<PutResult> {
    const refusal = this.#refuse(table, key, value, bucket);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    let queue: BucketQueue;
    try {
      queue = this.#queueFor(table, key, bucket);
    } catch (error) {
      return Promise.reject(error);
    }
    const bytes = key.length + (value === null ? 0 : value.length) + RECORD_OVERHEAD;
    if (bytes > this.#room.capacity) return Promise.reject(this.#tooLarge(bytes));
    const hasRoom = queue.overflow.live === 0 && this.#room.fits(queue.held, bytes);
    if (!hasRoom && this.#config.onFull === 'fail') return Promise.reject(this.#full(queue));
    return new Promise((resolve, reject) => {
      const wasIdle = this.#isIdle;
      this.#counts.given += 1;
      const record = new PendingRecord(
        key,
        value,
        this.#counts.given,
        this.#ports.nowMs() + this.#config.deliveryTimeoutMs,
        this.#epochs.enter(),
        queue,
        bucket,
        resolve,
        reject,
      );
      if (signal !== undefined) {
        record.unwatch = this.#ports.watch(signal, () => {
          this.#fail(record, signal.reason);
          this.#pumpSoon();
        });
      }
      this.#add(record, queue, hasRoom);
      if (wasIdle) this.#pumpSoon();
    });
  }

  /** Resolves when no put waits for room: now the next one need not, either. Never rejects. */
  ready(): Promise<void> {
    if (this.#crowded.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#readyWaiters.push(resolve));
  }

  /** Sends what lingers, and resolves when everything that was given before is settled, however. Never rejects. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#epochs.whenSettled(resolve);
      this.#hurry();
    });
  }

  /** Takes nothing more, and resolves when all is settled; what is left at the deadline is rejected. Idempotent. */
  close(deadlineMs: number): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#resolveClosed = resolve;
      this.#closeAtMs = this.#ports.nowMs() + deadlineMs;
      this.#hurry();
    });
    return this.#closing;
  }

  stats(): KvWriterStats {
    const nowMs = this.#ports.nowMs();
    this.#windows.sweep(nowMs);
    const pressure: BucketPressure[] = [];
    let waiting = 0;
    for (const queue of this.#crowded) waiting += queue.overflow.live;
    for (const [queue, value] of this.#pressures) {
      const remainingMs = this.#windows.remainingMs(queue.name, nowMs);
      if (remainingMs === 0) this.#pressures.delete(queue);
      else if (pressure.length < MOST_PRESSURES) {
        pressure.push({ table: queue.table, bucket: queue.bucket, pressure: value, remainingMs });
      }
    }
    return {
      ...this.#counts,
      records: this.#openRecords,
      bufferedBytes: this.#room.used,
      waiting,
      windows: this.#windows.tracked,
      pressure,
    };
  }

  get #openRecords(): number {
    const { given, acknowledged, failed } = this.#counts;
    return given - acknowledged - failed;
  }

  get #isIdle(): boolean {
    return this.#openRecords === 0 && this.#counts.inFlight === 0;
  }

  // Records in.

  #refuse(
    table: string,
    key: Uint8Array,
    value: Uint8Array | null,
    bucket: number | undefined,
  ): Error | undefined {
    if (this.#closing !== undefined) {
      return new KvWriterClosedError('the writer is closed', { outcome: 'not-taken' });
    }
    if (typeof table !== 'string' || table === '') {
      return new TypeError(`table must be a name, got ${String(table)}`);
    }
    if (!(key instanceof Uint8Array)) return new TypeError('key must be bytes');
    if (value !== null && !(value instanceof Uint8Array)) {
      return new TypeError('value must be bytes');
    }
    if (bucket !== undefined && !(Number.isInteger(bucket) && bucket >= 0 && bucket < 2 ** 32)) {
      return new RangeError(`bucket must be an integer from 0 to 2^32 - 1, got ${String(bucket)}`);
    }
    const { maxKeyBytes, maxValueBytes } = this.#config.limits;
    const badKey = refuseKey(key, maxKeyBytes);
    if (badKey !== undefined) return new KvRecordError(badKey, { storageCode: 3 });
    if (value === null || value.length <= maxValueBytes) return undefined;
    const reason = `a value must have at most ${maxValueBytes} bytes, got ${value.length}`;
    return new KvRecordError(reason, { storageCode: 3 });
  }

  #tooLarge(bytes: number): Error {
    const reason = `a record of ${bytes} bytes never fits a buffer of ${this.#room.capacity}`;
    return new KvRecordError(reason, { storageCode: 4 });
  }

  #full({ name, held }: BucketQueue): Error {
    const { used, capacity } = this.#room;
    const message = `no room for ${name}: ${used} of ${capacity} bytes are taken, ${held} by it`;
    return new KvBufferFullError(message, { bufferedBytes: used, bufferBytes: capacity });
  }

  #queueFor(table: string, key: Uint8Array, bucket: number | undefined): BucketQueue {
    const leaders = this.#metadata.get(table);
    // Also those that name their bucket: none may overtake one that gets the same bucket by its key.
    if (leaders === undefined || leaders.size === 0) return this.#queue(table, UNPLACED);
    if (bucket !== undefined) return this.#queue(table, bucket);
    const chosen = this.#config.partition(key, leaders.size);
    if (!Number.isInteger(chosen) || chosen < 0 || chosen >= leaders.size) {
      const rule = `an integer from 0 to ${leaders.size - 1}`;
      throw new RangeError(`partition must return ${rule}, got ${String(chosen)}`);
    }
    return this.#queue(table, chosen);
  }

  #queue(table: string, bucket: number): BucketQueue {
    let ofTable = this.#queues.get(table);
    if (ofTable === undefined) {
      ofTable = new Map();
      this.#queues.set(table, ofTable);
    }
    let queue = ofTable.get(bucket);
    if (queue === undefined) {
      queue = new BucketQueue(table, bucket);
      ofTable.set(bucket, queue);
      if (this.#leaderOf(queue) === undefined) queue.awaiting = this.#clock.want();
    }
    return queue;
  }

  #add(record: PendingRecord, queue: BucketQueue, hasRoom: boolean): void {
    record.queue = queue;
    if (!hasRoom) {
      record.place = 'overflow';
      queue.overflow.push(record);
      if (queue.overflow.live > 1) return;
      this.#crowded.add(queue);
    } else {
      this.#room.take(record.bytes);
      queue.held += record.bytes;
      this.#stand(record, queue);
      // The first one sets the time; then there is nothing to do before a batch is full.
      if (queue.waiting.live > 1 && !queue.isFull(this.#config.batchBytes)) return;
    }
    if (queue.flying === undefined || queue.heapIndex < 0) this.#plan(queue);
  }

  #stand(record: PendingRecord, queue: BucketQueue): void {
    record.queue = queue;
    record.place = 'waiting';
    queue.waiting.push(record);
  }

  /** Lets in who waits for room: each bucket in its turn as far as its share goes. */
  #admit(): void {
    if (this.#crowded.size === 0) return;
    for (const queue of [...this.#crowded]) {
      let admitted = 0;
      for (let next = queue.overflow.first(); next !== undefined; next = queue.overflow.first()) {
        if (!this.#room.fits(queue.held, next.bytes)) break;
        queue.overflow.shift();
        this.#room.take(next.bytes);
        queue.held += next.bytes;
        this.#stand(next, queue);
        admitted += 1;
      }
      if (queue.overflow.live === 0) this.#crowded.delete(queue);
      else if (admitted > 0) {
        this.#crowded.delete(queue);
        this.#crowded.add(queue);
      }
      if (admitted > 0) this.#plan(queue);
    }
    this.#tellReady();
  }

  #tellReady(): void {
    if (this.#crowded.size > 0 || this.#readyWaiters.length === 0) return;
    const waiters = this.#readyWaiters;
    this.#readyWaiters = [];
    for (const resolve of waiters) resolve();
  }

  // Records out. Each promise is settled by one of these two, once.

  #succeed(record: PendingRecord, result: PutResult): void {
    if (record.isSettled) return;
    record.isSettled = true;
    this.#counts.acknowledged += 1;
    record.unwatch?.();
    record.resolve(result);
    this.#epochs.leave(record.epoch);
  }

  #fail(record: PendingRecord, reason: unknown): void {
    if (record.isSettled) return;
    record.isSettled = true;
    this.#counts.failed += 1;
    record.unwatch?.();
    const { queue, bytes } = record;
    if (record.place === 'overflow') {
      queue.overflow.forget(record);
      if (queue.overflow.live === 0) this.#crowded.delete(queue);
    } else if (record.place !== 'flying') {
      if (record.place === 'waiting') queue.waiting.forget(record);
      this.#release(queue, bytes);
    }
    record.reject(reason);
    this.#epochs.leave(record.epoch);
  }

  #release(queue: BucketQueue, bytes: number): void {
    queue.held -= bytes;
    this.#room.release(bytes);
  }

  // Time.

  /** Work that may be due now is done after what runs now. */
  #pumpSoon(): void {
    if (this.#isPumpSoon || this.#isClosed) return;
    this.#isPumpSoon = true;
    this.#ports.soon(() => {
      this.#isPumpSoon = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#isClosed) return;
    const nowMs = this.#ports.nowMs();
    if (nowMs >= this.#closeAtMs) {
      this.#finish();
      return;
    }
    for (let next = this.#due.peek(); next !== undefined; next = this.#due.peek()) {
      if (next.dueMs > nowMs) break;
      this.#visit(next, nowMs);
    }
    this.#admit();
    if (this.#clock.dueMs(this.#hasNothingToDo(nowMs)) <= nowMs) this.#describe();
    this.#arm(nowMs);
  }

  #hasNothingToDo(nowMs: number): boolean {
    if (!this.#isIdle) return false;
    if (this.#windows.tracked > 0) this.#windows.sweep(nowMs);
    return this.#windows.tracked === 0;
  }

  #arm(nowMs: number): void {
    if (this.#isClosed) return;
    if (this.#closing !== undefined && this.#openRecords === 0) {
      this.#finish();
      return;
    }
    const isIdle = this.#isIdle && this.#closing === undefined;
    const dueMs = Math.min(
      this.#due.peek()?.dueMs ?? Number.POSITIVE_INFINITY,
      this.#clock.dueMs(this.#hasNothingToDo(nowMs)),
      this.#closeAtMs,
    );
    if (dueMs === Number.POSITIVE_INFINITY) {
      if (this.#armedMs !== dueMs) this.#ports.timer.disarm();
      this.#armedMs = dueMs;
      return;
    }
    // Waking early does no harm.
    if (this.#armedMs <= dueMs && this.#isArmedIdle === isIdle) return;
    this.#armedMs = dueMs;
    this.#isArmedIdle = isIdle;
    const wake = (): void => {
      this.#armedMs = Number.POSITIVE_INFINITY;
      this.#pump();
    };
    this.#ports.timer.arm(Math.max(0, dueMs - nowMs), wake, isIdle);
  }

  /** When the bucket is looked at next. */
  #plan(queue: BucketQueue): void {
    const oldest = queue.oldest();
    if (oldest === undefined) {
      this.#due.remove(queue);
      return;
    }
    const dueMs = Math.min(oldest.expiresAtMs, this.#sendAtMs(queue));
    this.#due.set(queue, dueMs);
    if (dueMs < this.#armedMs) this.#pumpSoon();
  }

  /** When a batch of the bucket may go; Infinity: something has to happen first. */
  #sendAtMs(queue: BucketQueue): number {
    if (queue.flying !== undefined || queue.awaiting !== undefined) return Number.POSITIVE_INFINITY;
    const readyMs = queue.parts.length > 0 ? 0 : this.#readyAtMs(queue);
    const freeMs = Math.max(readyMs, queue.notBeforeMs);
    if (this.#config.ignorePressure) return freeMs;
    const nowMs = this.#ports.nowMs();
    const windowMs = this.#windows.remainingMs(queue.name, nowMs);
    return windowMs === 0 ? freeMs : Math.max(freeMs, nowMs + windowMs);
  }

  #readyAtMs(queue: BucketQueue): number {
    const first = queue.waiting.first();
    if (first === undefined) return Number.POSITIVE_INFINITY;
    const { batchBytes, lingerMs, deliveryTimeoutMs } = this.#config;
    if (first.sequence <= this.#urgentUpTo || queue.isFull(batchBytes)) return 0;
    // Who waits for room waits for this batch.
    if (queue.overflow.live > 0) return 0;
    return first.expiresAtMs - deliveryTimeoutMs + lingerMs;
  }

  #hurry(): void {
    this.#urgentUpTo = this.#counts.given;
    for (const ofTable of this.#queues.values()) {
      for (const queue of ofTable.values()) if (!queue.isEmpty) this.#plan(queue);
    }
    this.#pumpSoon();
  }

  #visit(queue: BucketQueue, nowMs: number): void {
    for (const record of queue.expired(nowMs)) this.#fail(record, this.#timeout(record));
    if (this.#sendAtMs(queue) <= nowMs) this.#send(queue);
    this.#plan(queue);
  }

  #timeout(record: PendingRecord): Error {
    const { queue } = record;
    const timeoutMs = this.#config.deliveryTimeoutMs;
    const outcome = outcomeOf(record);
    const cause =
      queue.lastError ?? (queue.awaiting === undefined ? undefined : this.#metadataError);
    const bucket = queue.bucket === UNPLACED ? undefined : queue.bucket;
    const whether = outcome === 'unknown' ? 'it may have been taken' : 'it was not taken';
    return new KvDeliveryTimeoutError(
      `not acknowledged by ${queue.name} within ${timeoutMs} ms; ${whether}`,
      { table: queue.table, bucket, outcome, timeoutMs },
      cause === undefined ? undefined : { cause },
    );
  }

  // Attempts.

  #send(queue: BucketQueue): void {
    const leader = this.#leaderOf(queue);
    if (leader === undefined) {
      queue.awaiting = this.#clock.want();
      return;
    }
    const batch = queue.nextBatch(this.#config.batchBytes);
    if (batch === undefined) return;
    if (queue.throttle !== undefined) {
      const givenMs = (batch.records[0]?.expiresAtMs ?? 0) - this.#config.deliveryTimeoutMs;
      const { fromMs, untilMs } = queue.throttle;
      this.#counts.throttledMs += Math.max(0, untilMs - Math.max(fromMs, givenMs));
      queue.throttle = undefined;
    }
    queue.flying = batch;
    this.#attempt += 1;
    this.#counts.attempts += 1;
    this.#counts.inFlight += 1;
    this.#ports.transport.put(
      {
        leader,
        table: queue.table,
        bucket: queue.bucket,
        records: batch.records,
        completion: this.#config.completion,
        number: this.#attempt,
        timeoutMs: this.#config.requestTimeoutMs,
      },
      (end) => this.#onEnd(queue, batch, end),
    );
  }

  #onEnd(queue: BucketQueue, batch: Batch, end: Exchange): void {
    if (this.#isClosed || queue.flying !== batch) return;
    queue.flying = undefined;
    this.#counts.inFlight -= 1;
    const nowMs = this.#ports.nowMs();
    const answer = readPutAnswer(end, queue.bucket, this.#config.completion === 'flush');
    this.#throttle(queue, answer.verdict, answer.pressure, nowMs);
    if (answer.verdict.kind === 'taken') {
      const { logEndOffset } = answer.verdict;
      const result = Object.freeze({ bucket: queue.bucket, logEndOffset });
      queue.failures = 0;
      queue.isDoubted = false;
      queue.lastError = undefined;
      for (const record of batch.records) this.#succeed(record, result);
      this.#release(queue, batch.bytes);
    } else {
      queue.lastError = answer.cause ?? new Error(answer.verdict.reason);
      this.#comeBack(queue, batch, answer.verdict, nowMs);
    }
    this.#visit(queue, nowMs);
    this.#admit();
    this.#forget(queue);
    this.#arm(nowMs);
  }

  #throttle(
    queue: BucketQueue,
    verdict: PutVerdict,
    pressure: number | undefined,
    nowMs: number,
  ): void {
    if (verdict.kind === 'pressed') this.#counts.refusals += 1;
    if (this.#config.ignorePressure) return;
    if (verdict.kind === 'pressed') this.#signal(queue, 1, nowMs);
    else if (pressure !== undefined) this.#signal(queue, pressure, nowMs);
    // Only a batch that was taken says by its silence that there is no pressure.
    else if (verdict.kind === 'taken') this.#signal(queue, 0, nowMs);
  }

  #signal(queue: BucketQueue, pressure: number, nowMs: number): void {
    this.#windows.signal(queue.name, pressure, nowMs);
    if (pressure > 0) {
      this.#pressures.set(queue, Math.min(pressure, 1));
      const untilMs = nowMs + this.#windows.remainingMs(queue.name, nowMs);
      queue.throttle = { fromMs: nowMs, untilMs };
    } else if (pressure <= 0 && queue.throttle !== undefined) {
      this.#pressures.delete(queue);
      queue.throttle = undefined;
    }
  }

  /** The batch was not taken, as far as is known: back to the head of its bucket, or given up. */
  #comeBack(
    queue: BucketQueue,
    batch: Batch,
    verdict: Exclude<PutVerdict, { kind: 'taken' }>,
    nowMs: number,
  ): void {
    const open: PendingRecord[] = [];
    for (const record of batch.records) {
      record.place = 'part';
      if (record.isSettled) this.#release(queue, record.bytes);
      else open.push(record);
    }
    if (open.length === 0) return;
    switch (verdict.kind) {
      case 'pressed': {
        queue.parts.unshift(open);
        this.#counts.retries += 1;
        const windowMs = this.#windows.remainingMs(queue.name, nowMs);
        // Without a window there must still be a pause.
        if (windowMs < this.#config.minRetryMs) this.#pause(queue, nowMs);
        else queue.failures = 0;
        return;
      }
      case 'again':
        queue.parts.unshift(open);
        this.#counts.retries += 1;
        if (verdict.maybeTaken) for (const record of open) record.maybeTaken = true;
        this.#pause(queue, nowMs);
        // Another server may lead it by now.
        this.#clock.want();
        return;
      case 'unknown-bucket':
        if (queue.isDoubted) {
          for (const record of open) this.#fail(record, unknownBucket(record, verdict.reason));
          return;
        }
        queue.isDoubted = true;
        queue.parts.unshift(open);
        this.#counts.retries += 1;
        queue.awaiting = this.#clock.want();
        return;
      case 'unfit': {
        if (open.length === 1) {
          const storageCode = verdict.code;
          this.#fail(open[0] as PendingRecord, new KvRecordError(verdict.reason, { storageCode }));
          return;
        }
        // The neighbours of one bad record are not to suffer: halves, in order.
        const half = open.length >> 1;
        queue.parts.unshift(open.slice(0, half), open.slice(half));
        this.#counts.retries += 1;
        return;
      }
      case 'failed':
        for (const record of open) {
          if (verdict.maybeTaken) record.maybeTaken = true;
          this.#fail(record, writeError(record, verdict.code, verdict.reason, queue.lastError));
        }
    }
  }

  /** Doubling, the upper half of it by chance, so that many writers do not come back together. */
  #pause(queue: BucketQueue, nowMs: number): void {
    queue.notBeforeMs = nowMs + this.#pauseMs(queue.failures);
    queue.failures += 1;
  }

  #pauseMs(failures: number): number {
    const { minRetryMs, maxRetryMs } = this.#config;
    const ms = Math.min(maxRetryMs, minRetryMs * 2 ** Math.min(failures, 30));
    return ms / 2 + (ms / 2) * this.#ports.random();
  }

  // Metadata.

  #leaderOf({ table, bucket }: BucketQueue): string | undefined {
    return this.#metadata.get(table)?.get(bucket);
  }

  #describe(): void {
    const number = this.#clock.begin();
    const timeoutMs = Math.min(this.#config.requestTimeoutMs, DESCRIBE_MS);
    this.#ports.transport.describe(timeoutMs, (end) => this.#onMetadata(number, end));
  }

  #onMetadata(number: number, end: Exchange): void {
    if (this.#isClosed) return;
    const nowMs = this.#ports.nowMs();
    const metadata = metadataOf(end);
    if (metadata instanceof Error) {
      this.#metadataError = metadata;
      this.#clock.fail(nowMs, this.#pauseMs(this.#clock.failures));
    } else {
      this.#metadataError = undefined;
      this.#clock.succeed(nowMs);
      this.#learn(metadata, number);
    }
    this.#pump();
  }

  #learn(metadata: KvMetadata, number: number): void {
    this.#metadata = metadata;
    this.#windows.keepOnly(bucketNames(metadata));
    const leaders = new Set([...metadata.values()].flatMap((ofTable) => [...ofTable.values()]));
    this.#ports.transport.retain(leaders);
    for (const [table, ofTable] of [...this.#queues]) {
      for (const queue of [...ofTable.values()]) {
        const isDue = queue.awaiting === undefined || queue.awaiting <= number;
        if (queue.bucket === UNPLACED && (metadata.get(table)?.size ?? 0) > 0) {
          this.#place(queue);
        } else if (this.#leaderOf(queue) !== undefined) {
          if (isDue) queue.awaiting = undefined;
        } else if (isDue) {
          this.#pressures.delete(queue);
          this.#dropQueued(queue);
        }
        this.#plan(queue);
        this.#forget(queue);
      }
    }
  }

  /** Now it is known which buckets the table has. */
  #place(unplaced: BucketQueue): void {
    for (const record of unplaced.open(false)) {
      const isHeld = record.place !== 'overflow';
      const from = isHeld ? unplaced.waiting : unplaced.overflow;
      from.shift();
      let queue: BucketQueue;
      try {
        queue = this.#queueFor(unplaced.table, record.key, record.bucket);
      } catch (error) {
        from.push(record);
        this.#fail(record, error);
        continue;
      }
      if (isHeld) {
        unplaced.held -= record.bytes;
        queue.held += record.bytes;
        this.#stand(record, queue);
        this.#plan(queue);
      } else {
        const hasRoom = queue.overflow.live === 0 && this.#room.fits(queue.held, record.bytes);
        this.#add(record, queue, hasRoom);
      }
    }
    this.#crowded.delete(unplaced);
  }

  #dropQueued(queue: BucketQueue): void {
    const { table, bucket } = queue;
    const reason =
      bucket === UNPLACED || !this.#metadata.has(table)
        ? `there is no table ${table}`
        : `table ${table} has no bucket ${bucket}`;
    for (const record of queue.open(false)) this.#fail(record, unknownBucket(record, reason));
    queue.parts = [];
    this.#crowded.delete(queue);
  }

  /** Nothing is kept of a bucket that is in no metadata and has nothing to send. */
  #forget(queue: BucketQueue): void {
    if (this.#leaderOf(queue) !== undefined || !queue.isEmpty) return;
    this.#due.remove(queue);
    const ofTable = this.#queues.get(queue.table);
    if (ofTable?.get(queue.bucket) !== queue) return;
    ofTable.delete(queue.bucket);
    if (ofTable.size === 0) this.#queues.delete(queue.table);
  }

  #finish(): void {
    for (const ofTable of this.#queues.values()) {
      for (const queue of ofTable.values()) {
        for (const record of queue.open(true)) {
          const outcome = outcomeOf(record);
          const whether = outcome === 'unknown' ? 'it may have been taken' : 'it was not taken';
          const message = `the writer was closed before ${queue.name} acknowledged; ${whether}`;
          this.#fail(record, new KvWriterClosedError(message, { outcome }));
        }
        if (queue.flying !== undefined) this.#release(queue, queue.flying.bytes);
        queue.flying = undefined;
        this.#due.remove(queue);
      }
    }
    this.#counts.inFlight = 0;
    this.#queues.clear();
    this.#crowded.clear();
    this.#pressures.clear();
    this.#windows.keepOnly([]);
    this.#isClosed = true;
    this.#tellReady();
    this.#ports.timer.disarm();
    this.#ports.transport.close();
    this.#resolveClosed();
  }
}

function outcomeOf({ maybeTaken, place }: PendingRecord): KvOutcome {
  return maybeTaken || place === 'flying' ? 'unknown' : 'not-taken';
}

function detailsOf(record: PendingRecord): {
  readonly table: string;
  readonly bucket: number | undefined;
  readonly outcome: KvOutcome;
} {
  const { table, bucket } = record.queue;
  return { table, bucket: bucket === UNPLACED ? undefined : bucket, outcome: outcomeOf(record) };
}

function unknownBucket(record: PendingRecord, reason: string): Error {
  return new KvUnknownBucketError(reason, detailsOf(record));
}

function writeError(
  record: PendingRecord,
  storageCode: number | undefined,
  reason: string,
  cause: Error | undefined,
): Error {
  const { name } = record.queue;
  const details = { ...detailsOf(record), storageCode };
  return new KvWriteError(`${name} did not take it: ${reason}`, details, { cause });
}

function metadataOf(end: Exchange): KvMetadata | Error {
  if (end.kind !== 'response') return end.error;
  try {
    return readMetadata(end.response);
  } catch (error) {
    return error as Error;
  }
}
