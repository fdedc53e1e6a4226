/**
 * Who waits in this thread for one limiter: first come, first served within the thread, and in the order of reservations
 * across threads. Invariants:
 * - Only a prefix of the queue holds bookings: the head, and whoever could go within the next {@link HORIZON_NS}, which a
 *   timer of whole milliseconds could not serve one by one. So an abort behind it takes nothing from the limiter.
 * - A waiter that leaves hands its booking to the next one of the same weight; one that nobody can use is given back
 *   where that is sound, and lapses otherwise.
 * - At most one timer is armed, for the earlier of the first booking and the earliest deadline.
 * - A booking is checked against the configuration in force before it is used.
 */
import type { Booking, Revision } from '../shared/booking.js';
import { DeadlineHeap } from './deadline-heap.js';
import type { Grant, QueuedLimiter, QueueHost } from './queued-limiter.js';
import { type Waiter, WaiterLine } from './waiter-line.js';

/** Bookings are made this far ahead: a timer is rounded up by as much as 1 ms, and may be 2 ms late. */
const HORIZON_NS = 3e6;
const LONGEST_TIMER_MS = 3_600_000;

function canInherit(heir: Waiter, { n, atNs }: Booking): boolean {
  return heir.n === n && heir.sinceNs <= atNs;
}

export class WaitQueue {
  readonly #limiter: QueuedLimiter;
  readonly #host: QueueHost;
  readonly #deadlines = new DeadlineHeap<Waiter>();
  readonly #line = new WaiterLine();
  /** Last of the booked prefix. */
  #lastBooked: Waiter | undefined;
  #waitingTokens = 0;
  #epoch: number;
  #pumping = false;
  #disarm: (() => void) | undefined;
  #armedForNs = Number.POSITIVE_INFINITY;

  constructor(limiter: QueuedLimiter, host: QueueHost) {
    this.#limiter = limiter;
    this.#host = host;
    this.#epoch = limiter.epoch();
  }

  /** Waiters now. */
  get size(): number {
    return this.#line.size;
  }

  /**
   * Takes `n` permits, now or by waiting at most `maxWaitMs`. Throws or rejects with the limiter's refusal, nothing
   * taken, or with the signal's reason.
   */
  acquire(n: number, maxWaitMs: number, signal: AbortSignal | undefined): Grant | Promise<Grant> {
    signal?.throwIfAborted();
    // A change that the queue has not been told of yet counts for us already.
    if (this.#line.head !== undefined && this.#epoch !== this.#limiter.epoch()) this.pump();
    const now = this.#host.nowNs();
    const maxWaitNs = maxWaitMs * 1e6;
    if (this.#line.head === undefined) {
      this.#epoch = this.#limiter.epoch();
      const booked = this.#limiter.book(now, n, maxWaitNs);
      if (booked.kind === 'free') return { booking: undefined, waitedNs: 0 };
      if (booked.kind === 'refused') throw this.#limiter.refusal(booked.waitNs / 1e6, 'wait');
      if (booked.kind === 'impossible') throw this.#limiter.impossible(n);
      if (booked.booking.atNs <= now) return { booking: booked.booking, waitedNs: 0 };
      return this.#enqueue(n, now, maxWaitNs, signal, booked.booking);
    }
    if (n > this.#limiter.maxWeight()) throw this.#limiter.impossible(n);
    const waitNs = this.#estimateNs(now, n);
    if (waitNs > maxWaitNs) throw this.#limiter.refusal(waitNs / 1e6, 'wait');
    if (this.#line.size >= this.#host.maxWaiters())
      throw this.#limiter.refusal(waitNs / 1e6, 'full');
    return this.#enqueue(n, now, maxWaitNs, signal, undefined);
  }

  /** Grants what is due, re-plans after a change, rejects what is over its time, and arms the timer. */
  pump(): void {
    const now = this.#host.nowNs();
    if (this.#epoch !== this.#limiter.epoch()) this.#revise(now);
    for (let head = this.#line.head; head !== undefined; head = this.#line.head) {
      if (!this.#book(head, now)) continue;
      if (head.booking !== undefined && head.booking.atNs > now) break;
      this.#settle(head, now);
    }
    for (
      let late = this.#deadlines.peek();
      late !== undefined && late.deadlineNs <= now;
      late = this.#deadlines.peek()
    ) {
      this.#drop(late, this.#limiter.refusal(this.#estimateNs(now, late.n) / 1e6, 'wait'), now);
    }
    this.#bookAhead(now);
    this.#arm(now);
  }

  /** Rejects all waiters; what they had booked is given back or lapses. */
  rejectAll(reason: unknown): void {
    const now = this.#host.nowNs();
    // From the tail, so that each booking is the last one when it is given back.
    while (this.#line.tail !== undefined) this.#drop(this.#line.tail, reason, now);
    this.#arm(now);
  }

  /** Lets all waiters go: what limited them is no longer there. */
  releaseAll(): void {
    const now = this.#host.nowNs();
    while (this.#line.head !== undefined) {
      const head = this.#line.head;
      if (head.booking !== undefined) this.#forget(head, head.booking);
      this.#settle(head, now);
    }
    this.#arm(now);
  }

  /**
   * When all who leave together have left, and before the next timer: a head of another weight was handed nothing, and may
   * not stay that long either.
   */
  #pumpSoon(): void {
    if (this.#pumping || this.#line.head === undefined) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.pump();
    });
  }

  #enqueue(
    n: number,
    now: number,
    maxWaitNs: number,
    signal: AbortSignal | undefined,
    booking: Booking | undefined,
  ): Promise<Grant> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        n,
        sinceNs: now,
        deadlineNs: now + maxWaitNs,
        resolve,
        reject,
        unwatch: undefined,
        booking,
        previous: undefined,
        next: undefined,
        done: false,
      };
      this.#line.append(waiter);
      this.#limiter.waits(1);
      if (booking === undefined) this.#waitingTokens += n;
      else this.#lastBooked = waiter;
      this.#deadlines.push(waiter);
      if (signal !== undefined) {
        waiter.unwatch = this.#host.signals.watch(signal, () => {
          const at = this.#host.nowNs();
          this.#drop(waiter, signal.reason, at);
          this.#arm(at);
          this.#pumpSoon();
        });
      }
      this.#bookAhead(now);
      this.#arm(now);
    });
  }

  /** At least this long until a newcomer of weight `n` could go; other threads may make it longer. */
  #estimateNs(now: number, n: number): number {
    const bookedNs = Math.max((this.#lastBooked?.booking?.atNs ?? now) - now, 0);
    return bookedNs + (this.#waitingTokens + n) * this.#limiter.intervalNs();
  }

  /** Makes sure that `waiter` has a booking or needs none. @returns false when it was rejected instead. */
  #book(waiter: Waiter, now: number): boolean {
    if (waiter.booking !== undefined) return true;
    const booked = this.#limiter.book(now, waiter.n, Math.max(waiter.deadlineNs - now, 0));
    if (booked.kind === 'refused')
      this.#drop(waiter, this.#limiter.refusal(booked.waitNs / 1e6, 'wait'), now);
    else if (booked.kind === 'impossible')
      this.#drop(waiter, this.#limiter.impossible(waiter.n), now);
    else if (booked.kind === 'booked') this.#give(waiter, booked.booking);
    return !waiter.done;
  }

  #bookAhead(now: number): void {
    for (let last = this.#lastBooked; last?.booking !== undefined; last = this.#lastBooked) {
      const { next } = last;
      if (next === undefined || last.booking.atNs > now + HORIZON_NS) return;
      if (this.#book(next, now) && next.booking === undefined) return;
    }
  }

  #revise(now: number): void {
    this.#epoch = this.#limiter.epoch();
    const most = this.#limiter.maxWeight();
    let voided = false;
    for (let at = this.#line.head; at !== undefined; at = at.next) {
      const { booking } = at;
      if (at.n > most) {
        this.#drop(at, this.#limiter.impossible(at.n), now);
        continue;
      }
      if (booking === undefined) continue;
      const revision: Revision = voided ? { kind: 'void' } : this.#limiter.revise(booking);
      if (revision.kind === 'booked') {
        at.booking = revision.booking;
      } else if (revision.kind === 'impossible') {
        this.#drop(at, this.#limiter.impossible(at.n), now);
      } else {
        voided = true;
        this.#forget(at, booking);
      }
    }
    while (this.#lastBooked !== undefined && this.#lastBooked.booking === undefined) {
      this.#lastBooked = this.#lastBooked.previous;
    }
  }

  /** Gives the first waiter without a booking its own. */
  #give(waiter: Waiter, booking: Booking): void {
    waiter.booking = booking;
    this.#lastBooked = waiter;
    this.#waitingTokens -= waiter.n;
  }

  #forget(waiter: Waiter, booking: Booking): void {
    this.#limiter.forget(booking);
    waiter.booking = undefined;
    this.#waitingTokens += waiter.n;
  }

  #settle(waiter: Waiter, now: number): void {
    const { booking } = waiter;
    if (booking === undefined) this.#waitingTokens -= waiter.n;
    this.#unlink(waiter);
    waiter.resolve({ booking, waitedNs: now - waiter.sinceNs });
  }

  #drop(waiter: Waiter, reason: unknown, now: number): void {
    if (waiter.done) return;
    let spare = waiter.booking;
    let heir = waiter.next;
    this.#unlink(waiter);
    if (spare === undefined) {
      this.#waitingTokens -= waiter.n;
    } else {
      // Not to one who came after its time: the bucket has filled up again since.
      while (heir?.booking !== undefined && canInherit(heir, spare)) {
        const later: Booking = heir.booking;
        heir.booking = spare;
        spare = later;
        heir = heir.next;
      }
      if (heir !== undefined && heir.booking === undefined && canInherit(heir, spare))
        this.#give(heir, spare);
      else {
        // Booked behind it are waiters of other weights: it can only be given back after theirs, and they book again.
        if (heir !== undefined) this.#undoFrom(heir, now);
        this.#limiter.cancel(spare, now);
      }
    }
    waiter.reject(reason);
  }

  /** Undoes bookings from the last one back to that of `first`, as far as that is sound. */
  #undoFrom(first: Waiter, now: number): void {
    if (first.booking === undefined) return;
    for (let last = this.#lastBooked; last?.booking !== undefined; last = this.#lastBooked) {
      if (!this.#limiter.undo(last.booking, now)) return;
      last.booking = undefined;
      this.#waitingTokens += last.n;
      this.#lastBooked = last.previous;
      if (last === first) return;
    }
  }

  #unlink(waiter: Waiter): void {
    waiter.done = true;
    waiter.unwatch?.();
    if (this.#lastBooked === waiter) this.#lastBooked = waiter.previous;
    this.#line.remove(waiter);
    this.#limiter.waits(-1);
    this.#deadlines.withdrawn();
  }

  #arm(now: number): void {
    const head = this.#line.head;
    const dueNs =
      head === undefined
        ? Number.POSITIVE_INFINITY
        : Math.min(
            head.booking?.atNs ?? now,
            this.#deadlines.peek()?.deadlineNs ?? Number.POSITIVE_INFINITY,
          );
    // An early wake costs a round; putting one off with every change would put it off for ever.
    if (dueNs === this.#armedForNs || (this.#armedForNs < dueNs && head !== undefined)) return;
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedForNs = dueNs;
    if (dueNs === Number.POSITIVE_INFINITY) return;
    // Rounded up, so that a timer that fires up to 1 ms early costs one more round, not a spin.
    const delayMs = Math.min(Math.max(Math.ceil((dueNs - now) / 1e6), 1), LONGEST_TIMER_MS);
    this.#disarm = this.#host.arm(delayMs, () => {
      this.#disarm = undefined;
      this.#armedForNs = Number.POSITIVE_INFINITY;
      this.pump();
    });
  }
}
