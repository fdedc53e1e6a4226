/**
 * Strictly spaced calls, no burst: `next = max(next, now) + 1 / qps`. One word in a pair's cell, shared by every thread.
 * Within one configuration no two planned times are closer than the interval; a reset starts a new plan.
 */
import type { Kernel } from './kernel/port.js';
import { checkNs, checkQps, intervalNs } from './quota.js';

/** Byte offsets of a pair's cell, of the thread's counters for it, and of 16 scratch bytes. */
export interface StrictPlace {
  readonly cell: number;
  readonly stats: number;
  readonly scratch: number;
}

export class StrictLimiter {
  readonly #kernel: Kernel;
  readonly #place: StrictPlace;
  #qps = 0;

  constructor(kernel: Kernel, place: StrictPlace, qps: number, nowNs = 0) {
    this.#kernel = kernel;
    this.#place = place;
    this.configure(qps, nowNs, true);
  }

  /** Calls per second in force. */
  get qps(): number {
    return this.#qps;
  }

  /** @returns the time in ns at which the caller may go. RangeError when that is more than a year away. */
  reserve(nowNs: number): number {
    const { cell, stats, scratch } = this.#place;
    const now = checkNs(nowNs, 'nowNs');
    const wait = this.#kernel.strictReserve(cell, stats, scratch, now, Number.POSITIVE_INFINITY);
    if (wait === Number.NEGATIVE_INFINITY)
      throw new RangeError(`the queue must not be longer than a year, at ${this.#qps} calls/s`);
    return now + wait;
  }

  /**
   * A new rate. What is queued stays queued, unless `resetReservation`: then the next call plans from now on.
   * RangeError for a rate of zero or less, or one that cannot be held; the old rate stays.
   */
  configure(qps: number, nowNs: number, resetReservation = false): void {
    const interval = intervalNs(checkQps(qps));
    const now = checkNs(nowNs, 'nowNs');
    this.#kernel.strictConfigure(this.#place.cell, now, interval, qps, resetReservation ? 1 : 0);
    this.#qps = qps;
  }
}
