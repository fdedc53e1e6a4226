/** A pair's strict limiter as a queue sees it, with the accounts of its slots in this thread's counters. */
import { type Booking, type Revision, revise } from '../shared/booking.js';
import { RateLimitExceededError } from '../shared/errors.js';
import { MAX_DEBT_NS, STATS } from '../shared/kernel/port.js';
import { bookingAt, cellWords, type LimiterWords } from '../shared/limiter-words.js';
import type { Booked, QueuedLimiter } from './queued-limiter.js';
import type { ThreadContext } from './thread-context.js';

export interface CellOffsets {
  readonly cell: number;
  readonly stats: number;
  /** Counter of who waits now. */
  readonly waiting: number;
}

export class QueuedCell implements QueuedLimiter {
  readonly #thread: ThreadContext;
  readonly #pair: { readonly rpc: string; readonly table: string };
  readonly #at: CellOffsets;
  readonly #words: LimiterWords;

  constructor(
    thread: ThreadContext,
    pair: { readonly rpc: string; readonly table: string },
    at: CellOffsets,
  ) {
    this.#thread = thread;
    this.#pair = pair;
    this.#at = at;
    this.#words = cellWords(thread.arena, at.cell);
  }

  epoch(): number {
    return this.#words.epoch();
  }

  intervalNs(): number {
    return this.#words.terms(this.#words.epoch()).intervalNs;
  }

  maxWeight(): number {
    return 1;
  }

  book(nowNs: number, _n: number, maxWaitNs: number): Booked {
    const { arena, scratch } = this.#thread;
    const wait = arena.kernel.strictReserve(
      this.#at.cell,
      this.#at.stats,
      scratch,
      nowNs,
      maxWaitNs,
    );
    if (wait >= 0) {
      return { kind: 'booked', booking: bookingAt(arena, this.#words, scratch, 1, nowNs + wait) };
    }
    if (Number.isNaN(wait)) return { kind: 'free' };
    // A queue longer than can be held is a refusal too, with a time after which a retry makes sense.
    return { kind: 'refused', waitNs: Math.min(-wait - 1, MAX_DEBT_NS) };
  }

  revise(booking: Booking): Revision {
    return revise(booking, this.#words.changesSince(booking.epoch), true);
  }

  spend(booking: Booking): void {
    this.#count(STATS.SPENT, booking.n);
  }

  cancel(booking: Booking): void {
    if (!this.undo(booking)) this.#count(STATS.LOST, booking.n);
  }

  undo({ undo }: Booking): boolean {
    // The kernel would count for whoever has the thread's place by now.
    if (undo === undefined || this.#thread.hasLeft) return false;
    const { arena, scratch } = this.#thread;
    arena.u64[scratch >>> 3] = undo.begin;
    arena.u64[(scratch + 8) >>> 3] = undo.end;
    return arena.kernel.strictGiveBack(this.#at.cell, this.#at.stats, scratch) === 1;
  }

  forget({ n, plan }: Booking): void {
    // Where the plan itself still stands, the slot does too: it lapses.
    const { intervalNs, plan: inForce } = this.#words.terms(this.#words.epoch());
    this.#count(intervalNs > 0 && plan === inForce ? STATS.LOST : STATS.RETURNED, n);
  }

  waits(change: 1 | -1): void {
    this.#thread.count(this.#at.waiting, change);
  }

  refusal(retryAfterMs: number, reason: 'wait' | 'full'): RateLimitExceededError {
    this.#count(STATS.REFUSED, 1);
    const { rpc, table } = this.#pair;
    const why =
      reason === 'full'
        ? 'its queue in this thread is full'
        : `the wait would be ${retryAfterMs.toFixed(1)} ms`;
    return new RateLimitExceededError(`limit of table ${table} for ${rpc}: ${why}`, {
      retryAfterMs,
      stage: reason === 'full' ? 'queue' : 'table',
      rpc,
      table,
    });
  }

  impossible(n: number): RangeError {
    return new RangeError(`n must be 1 for a strict limiter, got ${n}`);
  }

  #count(counter: number, n: number): void {
    this.#thread.count(this.#at.stats + counter, n);
  }
}
