/** A host bucket as a queue sees it, with the accounts of its permits in this thread's counters. */
import { type Booking, type Revision, revise } from '../shared/booking.js';
import { RateLimitExceededError } from '../shared/errors.js';
import { MAX_DEBT_NS, STATS } from '../shared/kernel/port.js';
import { bookingAt, bucketWords, type LimiterWords } from '../shared/limiter-words.js';
import { impossible } from '../shared/token-bucket.js';
import type { Booked, QueuedLimiter } from './queued-limiter.js';
import type { ThreadContext } from './thread-context.js';

export interface BucketOffsets {
  readonly bucket: number;
  readonly stats: number;
  /** Counter of who waits now. */
  readonly waiting: number;
}

export class QueuedBucket implements QueuedLimiter {
  readonly #thread: ThreadContext;
  readonly #rpc: string;
  readonly #at: BucketOffsets;
  readonly #words: LimiterWords;

  constructor(thread: ThreadContext, rpc: string, at: BucketOffsets) {
    this.#thread = thread;
    this.#rpc = rpc;
    this.#at = at;
    this.#words = bucketWords(thread.arena, at.bucket);
  }

  epoch(): number {
    return this.#words.epoch();
  }

  intervalNs(): number {
    return this.#words.terms(this.#words.epoch()).intervalNs;
  }

  maxWeight(): number {
    const { intervalNs, tauNs } = this.#words.terms(this.#words.epoch());
    return intervalNs === 0 ? Number.POSITIVE_INFINITY : Math.round(tauNs / intervalNs);
  }

  book(nowNs: number, n: number, maxWaitNs: number): Booked {
    if (n > this.maxWeight()) return { kind: 'impossible' };
    const { arena, scratch } = this.#thread;
    const wait = arena.kernel.reserve(
      this.#at.bucket,
      this.#at.stats,
      scratch,
      nowNs,
      n,
      maxWaitNs,
    );
    if (wait >= 0) {
      return { kind: 'booked', booking: bookingAt(arena, this.#words, scratch, n, nowNs + wait) };
    }
    if (Number.isNaN(wait)) return { kind: 'free' };
    // More debt than can be held is a refusal too, with a time after which a retry makes sense.
    return { kind: 'refused', waitNs: Math.min(-wait - 1, MAX_DEBT_NS) };
  }

  revise(booking: Booking): Revision {
    return revise(booking, this.#words.changesSince(booking.epoch), false);
  }

  spend(booking: Booking): void {
    this.spendTokens(booking.n);
  }

  spendTokens(n: number): void {
    this.#count(STATS.SPENT, n);
  }

  cancel(booking: Booking, nowNs: number): void {
    if (!this.undo(booking, nowNs)) this.#count(STATS.LOST, booking.n);
  }

  undo({ n, undo }: Booking, nowNs: number): boolean {
    if (undo === undefined || this.#thread.hasLeft) return false;
    const { arena, scratch } = this.#thread;
    arena.u64[scratch >>> 3] = undo.begin;
    arena.u64[(scratch + 8) >>> 3] = undo.end;
    const { bucket, stats } = this.#at;
    return arena.kernel.giveBack(bucket, stats, scratch, nowNs, n) === 1;
  }

  /** Gives back what the thread's scratch words say how to undo, where that is sound; else it is lost. */
  giveBackScratch(nowNs: number, n: number): void {
    // The kernel would count for whoever has the place by now.
    if (this.#thread.hasLeft) return;
    const { arena, scratch } = this.#thread;
    const { bucket, stats } = this.#at;
    if (arena.kernel.giveBack(bucket, stats, scratch, nowNs, n) === 0) this.#count(STATS.LOST, n);
  }

  forget({ n, plan }: Booking): void {
    // Where the plan itself still stands, the debt does too: the slot lapses.
    const { intervalNs, plan: inForce } = this.#words.terms(this.#words.epoch());
    this.#count(intervalNs > 0 && plan === inForce ? STATS.LOST : STATS.RETURNED, n);
  }

  waits(change: 1 | -1): void {
    this.#thread.count(this.#at.waiting, change);
  }

  refusal(retryAfterMs: number, reason: 'wait' | 'full'): RateLimitExceededError {
    this.#count(STATS.REFUSED, 1);
    const why =
      reason === 'full'
        ? 'its queue in this thread is full'
        : `the wait would be ${retryAfterMs.toFixed(1)} ms`;
    return new RateLimitExceededError(`host limit of ${this.#rpc}: ${why}`, {
      retryAfterMs,
      stage: reason === 'full' ? 'queue' : 'host',
      rpc: this.#rpc,
    });
  }

  impossible(n: number): RangeError {
    return impossible(n, this.maxWeight());
  }

  #count(counter: number, n: number): void {
    this.#thread.count(this.#at.stats + counter, n);
  }
}
