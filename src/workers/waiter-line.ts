/** The waiters of one queue in their order: a linked list, since any of them may leave at any time. */
import type { Booking } from '../shared/booking.js';
import type { Grant } from './queued-limiter.js';

export interface Waiter {
  readonly n: number;
  readonly sinceNs: number;
  readonly deadlineNs: number;
  readonly resolve: (grant: Grant) => void;
  readonly reject: (reason: unknown) => void;
  unwatch: (() => void) | undefined;
  booking: Booking | undefined;
  previous: Waiter | undefined;
  next: Waiter | undefined;
  done: boolean;
}

export class WaiterLine {
  head: Waiter | undefined;
  tail: Waiter | undefined;
  size = 0;

  append(waiter: Waiter): void {
    waiter.previous = this.tail;
    if (this.tail === undefined) this.head = waiter;
    else this.tail.next = waiter;
    this.tail = waiter;
    this.size += 1;
  }

  /** Those behind it move up; it still knows who they were. */
  remove(waiter: Waiter): void {
    if (waiter.previous === undefined) this.head = waiter.next;
    else waiter.previous.next = waiter.next;
    if (waiter.next === undefined) this.tail = waiter.previous;
    else waiter.next.previous = waiter.previous;
    this.size -= 1;
  }
}
