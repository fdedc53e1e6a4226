/**
 * One thread's pressure windows: what it knows of buckets, who waits here, its counters, and whom it tells. A bucket that
 * was never under pressure costs one look at one shared word, and neither reads the clock nor allocates.
 */
import { PlaceCache } from '../shared/breaker/place-cache.js';
import { RateLimitExceededError, type RuntimeClosedError } from '../shared/errors.js';
import type { KeyDirectory } from '../shared/key-directory.js';
import { LatencyHistogram } from '../shared/latency-histogram.js';
import { HEADER, PRESSURE_STATS } from '../shared/layout.js';
import { BucketPlace, PressureWindows } from '../shared/pressure/pressure-windows.js';
import { throttleWindowMs } from '../shared/pressure/throttle-windows.js';
import { PressureQueue } from './pressure-queue.js';
import { RECORD, type ReportRing } from './report-ring.js';
import type { ThreadContext } from './thread-context.js';

export class ThreadPressure {
  readonly #thread: ThreadContext;
  readonly #ring: ReportRing;
  readonly #windows: PressureWindows;
  readonly #places = new PlaceCache((bucket) => new BucketPlace(bucket));
  readonly #waits: LatencyHistogram;
  /** Of the buckets that somebody waits for in this thread, or has. */
  readonly #queues = new Map<string, PressureQueue>();
  #closed: RuntimeClosedError | undefined;

  /** `directory`: of (rpc, table) pairs, in which buckets have a space of their own. */
  constructor(thread: ThreadContext, directory: KeyDirectory, ring: ReportRing) {
    const { buffer, layout } = thread.arena;
    this.#thread = thread;
    this.#ring = ring;
    this.#windows = new PressureWindows({ buffer, directory, epoch: HEADER.PRESSURE_EPOCH });
    this.#waits = new LatencyHistogram(buffer, layout.pressureWait);
  }

  place(bucket: string): BucketPlace {
    return this.#places.get(bucket);
  }

  /** How long the bucket is still to be left alone, ms. */
  remainingMs(place: BucketPlace): number {
    if (this.#windows.isCalm(place)) return 0;
    const now = this.#thread.nowNs();
    const window = this.#windows.window(place, now);
    return window === undefined ? 0 : (window.endNs - now) / 1e6;
  }

  /** What a peer has reported, whatever that is; counts for all threads. */
  report(place: BucketPlace, pressure: number): void {
    // A late answer of a thread that has left: its counters, and its ring, are no longer its own.
    if (Number.isNaN(pressure) || this.#closed !== undefined) return;
    const { maxThrottleMs } = this.#thread.settings().pressure;
    const windowMs = throttleWindowMs(pressure, maxThrottleMs);
    // Most answers come from buckets without a pressure, and say so.
    if (windowMs === 0 && this.#windows.isCalm(place)) return;
    const { effect, wakes } = this.#windows.signal(place, pressure, windowMs, this.#thread.nowNs());
    if (effect === 'full') this.#count('UNTRACKED', 1);
    if (effect === 'opened' || effect === 'lifted') this.#count('SIGNALS', 1);
    if (wakes) this.#tellAll();
    this.#queues.get(place.bucket)?.pump();
  }

  /**
   * Waits for the end of the bucket's window, at most `maxWaitMs`; undefined: there is none. Throws or rejects with
   * RateLimitExceededError, the signal's reason, RuntimeClosedError.
   */
  enter(
    place: BucketPlace,
    maxWaitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<number> | undefined {
    // A retry may come after its thread has left: the counters are no longer its own.
    if (this.#closed !== undefined) throw this.#closed;
    if (this.#windows.isCalm(place)) return undefined;
    const endNs = this.#windows.window(place, this.#thread.nowNs())?.endNs;
    return endNs === undefined ? undefined : this.#wait(place, endNs, maxWaitMs, signal);
  }

  /** Windows or settings may have changed. */
  refresh(): void {
    for (const queue of this.#queues.values()) queue.pump();
  }

  /** Rejects the waiters and takes no more calls. */
  close(reason: RuntimeClosedError): void {
    for (const queue of this.#queues.values()) queue.rejectAll(reason);
    this.#queues.clear();
    this.#closed = reason;
  }

  async #wait(
    place: BucketPlace,
    endNs: number,
    maxWaitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const queue = this.#queueOf(place);
    try {
      const waitedNs = await queue.enter(endNs, maxWaitMs, signal);
      this.#waits.record(waitedNs);
      return waitedNs;
    } finally {
      if (queue.size === 0 && this.#queues.get(place.bucket) === queue)
        this.#queues.delete(place.bucket);
    }
  }

  #queueOf(place: BucketPlace): PressureQueue {
    const known = this.#queues.get(place.bucket);
    if (known !== undefined) return known;
    const queue = new PressureQueue(
      {
        endNs: () => this.#windows.window(place, this.#thread.nowNs())?.endNs,
        watch: () => this.#windows.watch(place),
        waits: (change) => this.#count('WAITING', change),
        refusal: (retryAfterMs, reason) => this.#refusal(place.bucket, retryAfterMs, reason),
      },
      this.#thread,
    );
    this.#queues.set(place.bucket, queue);
    return queue;
  }

  #refusal(bucket: string, retryAfterMs: number, reason: 'wait' | 'full'): RateLimitExceededError {
    this.#count('REFUSED', 1);
    const why =
      reason === 'full'
        ? 'its queue in this thread is full'
        : `the wait would be ${retryAfterMs.toFixed(1)} ms`;
    return new RateLimitExceededError(`pressure of bucket ${bucket}: ${why}`, {
      retryAfterMs,
      stage: reason === 'full' ? 'queue' : 'pressure',
      bucket,
    });
  }

  /** The control thread tells the others. The count is for it to find what a full ring has dropped. */
  #tellAll(): void {
    Atomics.add(this.#thread.arena.i32, HEADER.PRESSURE_EASED >>> 2, 1);
    this.#ring.send(RECORD.PRESSURE_EASED, 0, 0, 0, 0);
  }

  #count(event: keyof typeof PRESSURE_STATS, n: number): void {
    const { place } = this.#thread;
    this.#thread.count(place.pressure + PRESSURE_STATS[event], n);
  }
}
