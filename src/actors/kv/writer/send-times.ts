import type { BucketQueue } from './bucket-queue.js';
import type { ThrottleStage } from './throttle-stage.js';
import type { WriterConfig } from './writer-config.js';

const NEVER: number = Number.POSITIVE_INFINITY;

/** When a batch of a bucket may go, by all that holds it up. Infinity: something has to happen first. */
export class SendTimes {
  readonly #config: Pick<WriterConfig, 'batchBytes' | 'lingerMs' | 'deliveryTimeoutMs'>;
  readonly #throttle: ThrottleStage;
  readonly #nowMs: () => number;
  #urgentUpTo = 0;

  constructor(
    config: Pick<WriterConfig, 'batchBytes' | 'lingerMs' | 'deliveryTimeoutMs'>,
    throttle: ThrottleStage,
    nowMs: () => number,
  ) {
    this.#config = config;
    this.#throttle = throttle;
    this.#nowMs = nowMs;
  }

  /** Records up to this one do not linger. */
  hurry(sequence: number): void {
    this.#urgentUpTo = sequence;
  }

  /** The next batch that the bucket has. */
  sendAtMs(queue: BucketQueue): number {
    if (queue.flying !== undefined) return NEVER;
    const readyMs = queue.parts.length > 0 ? 0 : this.#readyAtMs(queue);
    return Math.max(readyMs, this.mayGoAtMs(queue));
  }

  /** A batch, if the bucket had one. */
  mayGoAtMs(queue: BucketQueue): number {
    if (queue.awaiting !== undefined) return NEVER;
    // Of this moment: by an older one, a window that ends meanwhile would be open to who asks and over to who plans.
    const nowMs = this.#nowMs();
    const windowMs = this.#throttle.remainingMs(queue, nowMs);
    return windowMs === 0 ? queue.notBeforeMs : Math.max(queue.notBeforeMs, nowMs + windowMs);
  }

  #readyAtMs(queue: BucketQueue): number {
    const first = queue.waiting.first();
    if (first === undefined) return NEVER;
    const { batchBytes, lingerMs, deliveryTimeoutMs } = this.#config;
    if (first.sequence <= this.#urgentUpTo || queue.isFull(batchBytes)) return 0;
    // Who waits for room waits for this batch.
    if (queue.overflow.live > 0) return 0;
    return first.expiresAtMs - deliveryTimeoutMs + lingerMs;
  }
}
