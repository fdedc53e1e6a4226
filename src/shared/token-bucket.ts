/**
 * A token bucket shared by every thread: the generic cell rate algorithm (ITU-T I.371) in one 64-bit word. Starts full.
 * Over any window, any threads and any interleaving: grants <= burst + qps * elapsed.
 * Time is given, in ns; time that goes back counts as no time.
 */
import { RateLimitExceededError } from './errors.js';
import { type Kernel, TakeCode } from './kernel/port.js';
import { checkNs, checkWeight, holdQuota, type Quota } from './quota.js';

/** Where one bucket lives: byte offsets of its words, of the thread's counters for it, and of 16 scratch bytes. */
export interface BucketPlace {
  readonly bucket: number;
  readonly stats: number;
  readonly scratch: number;
}

export class TokenBucket {
  readonly #kernel: Kernel;
  readonly #place: BucketPlace;
  #burst = 0;
  #latestNs = 0;

  /** Takes over the words at `place` and fills the bucket. */
  constructor(kernel: Kernel, place: BucketPlace, quota: Quota, nowNs = 0) {
    this.#kernel = kernel;
    this.#place = place;
    this.reset(quota, nowNs);
  }

  /** Takes `n` tokens if they are there. RangeError when `n` is more than the burst: that can never be. */
  tryAcquire(nowNs: number, n = 1): boolean {
    const { bucket, stats } = this.#place;
    if (checkWeight(n) > this.#burst) throw impossible(n, this.#burst);
    return this.#kernel.tryAcquire(bucket, stats, this.#forward(nowNs), n) === TakeCode.GRANTED;
  }

  /** Takes `n` tokens, in debt if need be. @returns the wait in ns until they are there. */
  reserve(nowNs: number, n = 1): number {
    return this.#reserve(nowNs, checkWeight(n), Number.POSITIVE_INFINITY);
  }

  /** As {@link reserve}, but RateLimitExceededError and nothing taken when the wait would be longer than `maxWaitNs`. */
  acquire(nowNs: number, n: number, maxWaitNs: number): number {
    checkNs(maxWaitNs, 'maxWaitNs', Number.POSITIVE_INFINITY);
    const isPossible = checkWeight(n) <= this.#burst;
    const wait = this.#reserve(nowNs, n, isPossible ? maxWaitNs : -1);
    if (wait >= 0) return wait;
    if (!isPossible && -wait - 1 <= maxWaitNs) throw impossible(n, this.#burst);
    const retryAfterMs = (-wait - 1) / 1e6;
    throw new RateLimitExceededError(`the wait would be ${retryAfterMs} ms`, {
      retryAfterMs,
      stage: 'host',
    });
  }

  /** Gives `n` tokens back, up to a full bucket. */
  refund(n: number): void {
    this.#kernel.refund(this.#place.bucket, checkWeight(n));
  }

  /** A new rate and burst; balance and debt are kept, so that a change never hands out a fresh burst. */
  configure(quota: Quota, nowNs: number): void {
    this.#configure(quota, nowNs, 0);
  }

  /** A new rate and burst, full again. */
  reset(quota: Quota, nowNs: number): void {
    this.#configure(quota, nowNs, 1);
  }

  /** Tokens there now, negative in debt. */
  available(nowNs: number): number {
    return this.#kernel.available(this.#place.bucket, this.#forward(nowNs));
  }

  #reserve(nowNs: number, n: number, maxWaitNs: number): number {
    const { bucket, stats, scratch } = this.#place;
    const wait = this.#kernel.reserve(bucket, stats, scratch, this.#forward(nowNs), n, maxWaitNs);
    if (wait === Number.NEGATIVE_INFINITY)
      throw new RangeError(`n must not lead into more than a year of debt, got ${n}`);
    return wait;
  }

  #configure(quota: Quota, nowNs: number, reset: number): void {
    const { qps, burst, intervalNs, tauNs } = holdQuota(quota);
    this.#kernel.configure(
      this.#place.bucket,
      this.#forward(nowNs),
      intervalNs,
      tauNs,
      qps,
      burst,
      reset,
    );
    this.#burst = burst;
  }

  #forward(nowNs: number): number {
    if (checkNs(nowNs, 'nowNs') > this.#latestNs) this.#latestNs = nowNs;
    return this.#latestNs;
  }
}

export function impossible(n: number, burst: number): RangeError {
  return new RangeError(
    `n must be at most the burst of ${burst}, got ${n}: it could never be granted`,
  );
}
