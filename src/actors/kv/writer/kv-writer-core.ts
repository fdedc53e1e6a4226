import { KvRecordError, KvWriterClosedError } from '../../../shared/kv-writer-errors.js';
import { BucketMap } from './bucket-map.js';
import { BucketMetadata } from './bucket-metadata.js';
import type { BucketQueue } from './bucket-queue.js';
import { BucketSender, pauseMs } from './bucket-sender.js';
import { BufferRoom } from './buffer-room.js';
import { CrowdedBuckets } from './crowded-buckets.js';
import { DueHeap } from './due-heap.js';
import { PendingRecord, type PutResult, recordRoom } from './pending-record.js';
import { refuseArguments } from './put-arguments.js';
import { RecordLedger } from './record-ledger.js';
import { SendTimes } from './send-times.js';
import { ThrottleStage } from './throttle-stage.js';
import { WriterAlarm } from './writer-alarm.js';
import type { WriterConfig } from './writer-config.js';
import { bufferFull, leftAtClose, timedOut } from './writer-failures.js';
import type { WriterPorts } from './writer-ports.js';
import type { KvWriterStats } from './writer-stats.js';

export interface PutOptions {
  /** Default: `partition` chooses it by the key. */
  readonly bucket?: number;
  /** Gives the record up: its promise rejects with the signal's reason. In a request already, it may still be taken. */
  readonly signal?: AbortSignal;
}

/** A few milliseconds of puts. */
const PUTS_PER_TURN = 1000;
const NEVER: number = Number.POSITIVE_INFINITY;

/**
 * The writer without its network: per bucket one attempt at a time and everything else in order behind it, so that one
 * bucket never waits for another. Nothing here is per record but its promise: deadlines are those of the oldest.
 */
export class KvWriterCore {
  readonly #config: WriterConfig;
  readonly #ports: WriterPorts;
  readonly #room: BufferRoom;
  readonly #buckets: BucketMap;
  readonly #throttle: ThrottleStage;
  readonly #times: SendTimes;
  readonly #metadata: BucketMetadata;
  readonly #alarm: WriterAlarm;
  readonly #ledger = new RecordLedger();
  readonly #due = new DueHeap<BucketQueue>();
  readonly #crowded: CrowdedBuckets;
  readonly #sender: BucketSender;
  #givenAtTurn = 0;
  /** Of the promise that was made last. */
  readonly #captured: { resolve: (result: PutResult) => void; reject: (reason: unknown) => void } =
    {
      resolve: () => {},
      reject: () => {},
    };
  readonly #capture = (
    resolve: (result: PutResult) => void,
    reject: (reason: unknown) => void,
  ): void => {
    this.#captured.resolve = resolve;
    this.#captured.reject = reject;
  };
  #closing: Promise<void> | undefined;
  #closeAtMs: number = NEVER;
  #isClosed = false;
  #resolveClosed: () => void = () => {};

  constructor(config: WriterConfig, ports: WriterPorts) {
    this.#config = config;
    this.#ports = ports;
    this.#room = new BufferRoom(config.bufferBytes);
    this.#throttle = new ThrottleStage(config.maxThrottleMs, config.ignorePressure);
    this.#times = new SendTimes(config, this.#throttle, () => ports.nowMs());
    this.#alarm = new WriterAlarm(ports, () => this.#pump());
    this.#metadata = new BucketMetadata({
      config,
      transport: ports.transport,
      throttle: this.#throttle,
      ledger: this.#ledger,
      nowMs: () => ports.nowMs(),
      pauseMs: (failures) => pauseMs(config, failures, ports.random()),
      place: (record, queue, wasHeld) =>
        this.#add(record, queue, wasHeld || queue.hasRoom(record.bytes)),
      changed: (queue) => {
        this.#plan(queue);
        this.#buckets.forget(queue);
      },
      settled: () => this.#pump(),
    });
    this.#crowded = new CrowdedBuckets({
      mayGoAtMs: (queue) => this.#times.mayGoAtMs(queue),
      admitted: (queue) => this.#plan(queue),
    });
    this.#buckets = new BucketMap({
      room: this.#room,
      partition: config.partition,
      want: () => {
        // The alarm may be set for what is due long after it.
        this.#alarm.soon();
        return this.#metadata.want();
      },
    });
    this.#sender = new BucketSender({
      config,
      ports,
      buckets: this.#buckets,
      throttle: this.#throttle,
      ledger: this.#ledger,
      wantMetadata: () => this.#metadata.want(),
      ended: (queue, nowMs) => {
        this.#visit(queue, nowMs);
        this.#buckets.forget(queue);
        this.#settleDown(nowMs);
      },
    });
  }

  /** Asks for metadata, so that the first put need not wait for it. */
  start(): void {
    this.#metadata.want();
    this.#alarm.soon();
  }

  /** `value` null: a delete. See `KvWriter.put`. */
  put(
    table: string,
    key: Uint8Array,
    value: Uint8Array | null,
    options?: PutOptions,
  ): Promise<PutResult> {
    const bucket = options?.bucket;
    const signal = options?.signal;
    if (this.#closing !== undefined) {
      const details = { outcome: 'not-taken' } as const;
      return Promise.reject(new KvWriterClosedError('the writer is closed', details));
    }
    const refusal = refuseArguments(table, key, value, options, this.#config.limits);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const bytes = recordRoom(key, value);
    const { capacity, used } = this.#room;
    if (bytes > capacity) {
      const reason = `a record of ${bytes} bytes never fits a buffer of ${capacity}`;
      return Promise.reject(new KvRecordError(reason, { storageCode: 4 }));
    }
    let queue: BucketQueue;
    try {
      queue = this.#buckets.queueFor(table, key, bucket);
    } catch (error) {
      return Promise.reject(error);
    }
    const hasRoom = queue.hasRoom(bytes);
    if (!hasRoom && this.#config.onFull === 'fail') {
      return Promise.reject(bufferFull(queue.name, queue.held, used, capacity));
    }
    // What wakes an idle writer need not keep the process alive; from now on it must.
    if (this.#isIdle) this.#alarm.soon();
    // No closure of its own for each record: half of the cost of a put is what has to be collected.
    const promise = new Promise<PutResult>(this.#capture);
    const record = new PendingRecord(
      key,
      value,
      bucket,
      // Whole, so that it is no object either.
      Math.ceil(this.#ports.nowMs()) + this.#config.deliveryTimeoutMs,
      this.#ledger.enter(),
      this.#ledger.given,
      queue,
      this.#captured.resolve,
      this.#captured.reject,
    );
    if (signal !== undefined) this.#watch(record, signal);
    this.#add(record, queue, hasRoom);
    return promise;
  }

  #watch(record: PendingRecord, signal: AbortSignal): void {
    record.unwatch = this.#ports.watch(signal, () => {
      this.#ledger.fail(record, signal.reason);
      this.#alarm.soon();
    });
  }

  /**
   * Resolves when no put waits for room: now the next one need not, either. Who puts in a loop gives up the thread here every
   * few batches, for what is sent and answered. Never rejects.
   */
  ready(): Promise<void> {
    if (!this.#crowded.isEmpty) return new Promise((done) => this.#crowded.whenEmpty(done));
    if (this.#ledger.given - this.#givenAtTurn < PUTS_PER_TURN) return Promise.resolve();
    return new Promise((resolve) => {
      this.#ports.turn(() => {
        this.#givenAtTurn = this.#ledger.given;
        // It may be crowded by now.
        resolve(this.ready());
      });
    });
  }

  /** Sends what lingers, and resolves when everything that was given before is settled, however. Never rejects. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#ledger.whenSettled(resolve);
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
    this.#throttle.sweep(nowMs);
    const { given, acknowledged, failed, open } = this.#ledger;
    const { attempts, inFlight, retries, refusals } = this.#sender;
    return {
      records: open,
      bufferedBytes: this.#room.used,
      waiting: this.#crowded.records,
      windows: this.#throttle.windows,
      given,
      acknowledged,
      failed,
      attempts,
      inFlight,
      retries,
      refusals,
      throttledMs: this.#throttle.heldUpMs,
      trouble: this.#trouble()?.message,
      pressure: this.#throttle.open(nowMs),
    };
  }

  #trouble(): Error | undefined {
    if (this.#metadata.error !== undefined) return this.#metadata.error;
    return this.#buckets.all().find(({ lastError }) => lastError !== undefined)?.lastError;
  }

  get #isIdle(): boolean {
    return this.#ledger.open === 0 && this.#sender.inFlight === 0;
  }

  // The buffer.

  #add(record: PendingRecord, queue: BucketQueue, hasRoom: boolean): void {
    if (hasRoom) {
      queue.hold(record);
      // The first one sets the time; then there is nothing to do before a batch is full.
      if (queue.waiting.live > 1 && !queue.isFull(this.#config.batchBytes)) return;
    } else {
      queue.crowd(record);
      if (queue.overflow.live > 1) return;
      this.#crowded.add(queue);
      // Its bucket may have a record in without room, now or later.
      this.#alarm.soon();
    }
    if (queue.flying === undefined || queue.heapIndex < 0) this.#plan(queue);
  }

  // Time.

  #pump(): void {
    if (this.#isClosed) return;
    const nowMs = this.#ports.nowMs();
    for (let next = this.#due.peek(); next !== undefined; next = this.#due.peek()) {
      if (next.dueMs > nowMs) break;
      this.#visit(next, nowMs);
    }
    this.#settleDown(nowMs);
  }

  /** The end of everything that happens: who waits gets room, metadata is asked for, the alarm is set. */
  #settleDown(nowMs: number): void {
    if (this.#closing !== undefined && (this.#ledger.open === 0 || nowMs >= this.#closeAtMs)) {
      this.#finish();
      return;
    }
    const admitAgainMs = this.#crowded.admit(nowMs);
    const hasWork = !this.#isIdle || this.#hasWindows(nowMs);
    if (this.#metadata.dueMs(!hasWork) <= nowMs) this.#metadata.ask(this.#buckets);
    const dueMs = Math.min(
      this.#due.peek()?.dueMs ?? NEVER,
      this.#metadata.dueMs(!hasWork),
      admitAgainMs,
      this.#closeAtMs,
    );
    this.#alarm.set(dueMs, nowMs, this.#isIdle);
  }

  #hasWindows(nowMs: number): boolean {
    this.#throttle.sweep(nowMs);
    return this.#throttle.windows > 0;
  }

  /** When the bucket is looked at next. */
  #plan(queue: BucketQueue): void {
    const oldest = queue.oldest();
    if (oldest === undefined) {
      this.#due.remove(queue);
      return;
    }
    const dueMs = Math.min(oldest.expiresAtMs, this.#times.sendAtMs(queue));
    this.#due.set(queue, dueMs);
    if (dueMs < this.#alarm.dueMs) this.#alarm.soon();
  }

  #hurry(): void {
    this.#times.hurry(this.#ledger.given);
    for (const queue of this.#buckets.all()) if (!queue.isEmpty) this.#plan(queue);
    this.#alarm.soon();
  }

  #visit(queue: BucketQueue, nowMs: number): void {
    for (const record of queue.expired(nowMs)) {
      const isPlaced = queue.awaiting === undefined;
      const cause = queue.lastError ?? (isPlaced ? undefined : this.#metadata.error);
      this.#ledger.fail(record, timedOut(record, this.#config.deliveryTimeoutMs, cause));
    }
    if (this.#times.sendAtMs(queue) <= nowMs) this.#sender.send(queue);
    this.#plan(queue);
  }

  #finish(): void {
    this.#isClosed = true;
    for (const queue of this.#buckets.all()) {
      for (const record of queue.open(true)) this.#ledger.fail(record, leftAtClose(record));
      if (queue.flying !== undefined) queue.land(queue.flying);
      this.#throttle.forget(queue);
    }
    this.#sender.close();
    this.#buckets.clear();
    this.#crowded.clear();
    this.#throttle.keepOnly([]);
    this.#ports.timer.disarm();
    this.#ports.transport.close();
    this.#resolveClosed();
  }
}
