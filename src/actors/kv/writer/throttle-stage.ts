import { ThrottleWindows } from '../../../shared/pressure/throttle-windows.js';
import type { BucketQueue } from './bucket-queue.js';
import type { BucketPressure } from './writer-stats.js';

const MOST_SHOWN = 1000;

/** How long each bucket is left alone for what its server said, and how long that has held batches up. */
export class ThrottleStage {
  readonly #windows: ThrottleWindows;
  readonly #pressures = new Map<BucketQueue, number>();
  readonly #isOff: boolean;
  #heldUpMs = 0;

  constructor(maxThrottleMs: number, isOff: boolean) {
    this.#windows = new ThrottleWindows(maxThrottleMs);
    this.#isOff = isOff;
  }

  /** Windows that are kept; the ones that are over go by `sweep`. */
  get windows(): number {
    return this.#windows.tracked;
  }

  /** How long batches that could have gone were held up, all buckets together, ms. */
  get heldUpMs(): number {
    return this.#heldUpMs;
  }

  /** A server said something of its pressure; unchecked, 1 for a refusal. */
  signal(queue: BucketQueue, pressure: number, nowMs: number): void {
    if (this.#isOff) return;
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

  remainingMs(queue: BucketQueue, nowMs: number): number {
    // Most buckets never had a window.
    return queue.throttle === undefined ? 0 : this.#windows.remainingMs(queue.name, nowMs);
  }

  /** A batch goes whose first record was given at `givenMs`. */
  passed(queue: BucketQueue, givenMs: number): void {
    if (queue.throttle === undefined) return;
    const { fromMs, untilMs } = queue.throttle;
    this.#heldUpMs += Math.max(0, untilMs - Math.max(fromMs, givenMs));
    queue.throttle = undefined;
    this.#pressures.delete(queue);
  }

  keepOnly(names: Iterable<string>): void {
    this.#windows.keepOnly(names);
  }

  forget(queue: BucketQueue): void {
    this.#pressures.delete(queue);
  }

  sweep(nowMs: number): void {
    if (this.#windows.tracked > 0) this.#windows.sweep(nowMs);
  }

  /** Windows that are open, at most 1000. */
  open(nowMs: number): readonly BucketPressure[] {
    const shown: BucketPressure[] = [];
    for (const [queue, pressure] of this.#pressures) {
      const remainingMs = this.remainingMs(queue, nowMs);
      if (remainingMs === 0) this.#pressures.delete(queue);
      else if (shown.length < MOST_SHOWN) {
        shown.push({ table: queue.table, bucket: queue.bucket, pressure, remainingMs });
      }
    }
    return shown;
  }
}
