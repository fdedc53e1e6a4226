import type { BucketMap } from './bucket-map.js';
import type { Batch, BucketQueue } from './bucket-queue.js';
import { comeBack } from './come-back.js';
import { type PutAnswer, readPutAnswer } from './put-answer.js';
import type { RecordLedger } from './record-ledger.js';
import type { ThrottleStage } from './throttle-stage.js';
import type { WriterConfig } from './writer-config.js';
import type { Exchange, WriterPorts } from './writer-ports.js';

export interface BucketSenderOptions {
  readonly config: WriterConfig;
  readonly ports: Pick<WriterPorts, 'transport' | 'nowMs' | 'random'>;
  readonly buckets: BucketMap;
  readonly throttle: ThrottleStage;
  readonly ledger: RecordLedger;
  /** Asks for metadata; returns the number of the request that will answer. */
  wantMetadata(): number;
  /** An attempt is over, and what became of its batch is settled. */
  ended(queue: BucketQueue, nowMs: number): void;
}

/** Makes attempts, numbered, and sees to what their answers say. */
export class BucketSender {
  readonly #options: BucketSenderOptions;
  attempts = 0;
  inFlight = 0;
  retries = 0;
  refusals = 0;
  #isClosed = false;

  constructor(options: BucketSenderOptions) {
    this.#options = options;
  }

  /** The bucket's next batch, if it has one and somebody leads it. None of it may be under way. */
  send(queue: BucketQueue): void {
    const { buckets, config, throttle, ports, wantMetadata } = this.#options;
    const leader = buckets.leaderOf(queue);
    if (leader === undefined) {
      queue.awaiting = wantMetadata();
      return;
    }
    const batch = queue.nextBatch(config.batchBytes);
    const first = batch?.records[0];
    const last = batch?.records.at(-1);
    if (batch === undefined || first === undefined || last === undefined) return;
    throttle.passed(queue, first.expiresAtMs - config.deliveryTimeoutMs);
    queue.flying = batch;
    this.attempts += 1;
    this.inFlight += 1;
    const attempt = {
      leader,
      table: queue.table,
      bucket: queue.bucket,
      records: batch.records,
      completion: config.completion,
      number: this.attempts,
      // When the last of them is given up, nobody waits for the answer but the records behind them.
      timeoutMs: Math.min(
        config.requestTimeoutMs,
        Math.max(Math.ceil(last.expiresAtMs - ports.nowMs()), 1),
      ),
    };
    ports.transport.put(attempt, (end) => this.#onEnd(queue, batch, end));
  }

  /** Nothing more is heard of attempts that are under way. */
  close(): void {
    this.#isClosed = true;
    this.inFlight = 0;
  }

  #onEnd(queue: BucketQueue, batch: Batch, end: Exchange): void {
    if (this.#isClosed || queue.flying !== batch) return;
    const { config, ports, ended } = this.#options;
    this.inFlight -= 1;
    const nowMs = ports.nowMs();
    const answer = readPutAnswer(end, queue.bucket, config.completion === 'flush');
    this.#obey(queue, answer, nowMs);
    if (answer.verdict.kind === 'taken') this.#onTaken(queue, batch, answer.verdict.logEndOffset);
    else this.#onNotTaken(queue, batch, answer, nowMs);
    ended(queue, nowMs);
  }

  #onTaken(queue: BucketQueue, batch: Batch, logEndOffset: number): void {
    const { ledger } = this.#options;
    const result = Object.freeze({ bucket: queue.bucket, logEndOffset });
    queue.failures = 0;
    queue.isDoubted = false;
    queue.lastError = undefined;
    for (const record of batch.records) ledger.succeed(record, result);
    queue.land(batch);
  }

  #onNotTaken(queue: BucketQueue, batch: Batch, answer: PutAnswer, nowMs: number): void {
    const { verdict, cause } = answer;
    if (verdict.kind === 'taken') return;
    const { config, ledger, throttle, wantMetadata } = this.#options;
    queue.lastError = cause ?? new Error(verdict.reason);
    const isAgain = comeBack(queue, batch, verdict, {
      fail: (record, reason) => ledger.fail(record, reason),
      pause: () => {
        queue.notBeforeMs = nowMs + pauseMs(config, queue.failures, this.#options.ports.random());
        queue.failures += 1;
      },
      windowMs: () => throttle.remainingMs(queue, nowMs),
      minRetryMs: config.minRetryMs,
      wantMetadata,
    });
    if (isAgain) this.retries += 1;
  }

  #obey(queue: BucketQueue, { verdict, pressure }: PutAnswer, nowMs: number): void {
    const { throttle, buckets } = this.#options;
    if (verdict.kind === 'pressed') this.refusals += 1;
    // Metadata has lost the bucket since, and its windows with it.
    if (buckets.leaderOf(queue) === undefined) return;
    if (verdict.kind === 'pressed') throttle.signal(queue, 1, nowMs);
    else if (pressure !== undefined) throttle.signal(queue, pressure, nowMs);
    // Only a batch that was taken says by its silence that there is no pressure.
    else if (verdict.kind === 'taken') throttle.signal(queue, 0, nowMs);
  }
}

/** After so many failures in a row: doubling, the upper half of it by chance, so that many writers do not come back together. */
export function pauseMs(
  { minRetryMs, maxRetryMs }: Pick<WriterConfig, 'minRetryMs' | 'maxRetryMs'>,
  failures: number,
  random: number,
): number {
  const ms = Math.min(maxRetryMs, minRetryMs * 2 ** Math.min(failures, 30));
  return ms / 2 + (ms / 2) * random;
}
