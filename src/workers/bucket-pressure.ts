/** The pressure window of one bucket by hand: for code that hears of a pressure, or waits for its end, outside of `gate.call`. */
import { RuntimeClosedError } from '../shared/errors.js';
import { THREAD } from '../shared/layout.js';
import type { BucketPlace } from '../shared/pressure/pressure-windows.js';
import { describeValue } from '../shared/quota.js';
import { checkKnown } from './known-options.js';
import type { ThreadContext } from './thread-context.js';
import type { ThreadPressure } from './thread-pressure.js';
import { checkMaxWait, checkSignal } from './wait-options.js';

export interface PressureWaitOptions {
  /** Longest wait, ms. Default: `waiting.maxWaitMs`. */
  readonly maxWaitMs?: number;
  /** Ends the wait at once. */
  readonly signal?: AbortSignal;
}

const WAIT_OPTIONS: ReadonlySet<string> = new Set<keyof PressureWaitOptions>([
  'maxWaitMs',
  'signal',
]);

export interface BucketPressureParts {
  readonly thread: ThreadContext;
  readonly pressure: ThreadPressure;
  readonly isClosed: () => boolean;
}

export class BucketPressure {
  readonly #parts: BucketPressureParts;
  readonly #place: BucketPlace;

  /** @internal */
  constructor(parts: BucketPressureParts, bucket: string) {
    this.#parts = parts;
    this.#requireOpenRuntime();
    this.#place = parts.pressure.place(checkBucket(bucket));
  }

  get bucket(): string {
    return this.#place.bucket;
  }

  /**
   * The downstream has reported a pressure: all threads leave the bucket alone for `maxThrottleMs * pressure^2`, whole ms
   * (see `pressure.maxThrottleMs`). The newest report replaces the one before; 0 lifts the window, 1 is the hard rejection,
   * what is out of range counts as the nearer end, NaN says nothing.
   * @throws TypeError for what is no number; RuntimeClosedError.
   */
  report(pressure: number): void {
    if (typeof pressure !== 'number')
      throw new TypeError(`pressure must be a number, got ${describeValue(pressure)}`);
    this.#requireOpenRuntime();
    this.#parts.pressure.report(this.#place, pressure);
  }

  /** How long the bucket is still to be left alone, ms; 0: not at all. @throws RuntimeClosedError. */
  remainingMs(): number {
    this.#requireOpenRuntime();
    return this.#parts.pressure.remainingMs(this.#place);
  }

  /**
   * Waits until the bucket need not be left alone.
   * @throws (rejects) RateLimitExceededError, stage `pressure`, when that would take longer than `maxWaitMs`; the signal's
   * reason; RuntimeClosedError; TypeError, RangeError for bad options.
   */
  async wait(options: PressureWaitOptions = {}): Promise<{ readonly waitedMs: number }> {
    checkKnown(options, WAIT_OPTIONS);
    const { thread, pressure } = this.#parts;
    const maxWaitMs = checkMaxWait(options.maxWaitMs) ?? thread.settings().maxWaitMs;
    const signal = checkSignal(options.signal);
    this.#requireOpenRuntime();
    signal?.throwIfAborted();
    const waiting = pressure.enter(this.#place, maxWaitMs, signal);
    if (waiting === undefined) return { waitedMs: 0 };
    const active = thread.place.header + THREAD.ACTIVE;
    thread.count(active, 1);
    try {
      return { waitedMs: (await waiting) / 1e6 };
    } finally {
      thread.count(active, -1);
    }
  }

  #requireOpenRuntime(): void {
    if (this.#parts.isClosed()) throw new RuntimeClosedError();
  }
}

/** @throws TypeError. */
export function checkBucket(bucket: string): string {
  if (typeof bucket === 'string' && bucket !== '') return bucket;
  throw new TypeError(`bucket must be a string that names a bucket, got ${describeValue(bucket)}`);
}
