/** What a wait queue asks of the limiter that is waited for, and of its thread. */
import type { Booking, Revision } from '../shared/booking.js';
import type { RateLimitExceededError } from '../shared/errors.js';
import type { SignalHub } from './signal-hub.js';

export type Booked =
  | { readonly kind: 'booked'; readonly booking: Booking }
  | { readonly kind: 'refused'; readonly waitNs: number }
  | { readonly kind: 'free' }
  | { readonly kind: 'impossible' };

/** The limiter that is waited for, and the accounts of its permits. */
export interface QueuedLimiter {
  /** Changes with every configuration. */
  epoch(): number;
  book(nowNs: number, n: number, maxWaitNs: number): Booked;
  revise(booking: Booking): Revision;
  /** Gives a booking back where that is sound, else counts it as lost. */
  cancel(booking: Booking, nowNs: number): void;
  /** Gives a booking back where that is sound. @returns whether it did. */
  undo(booking: Booking, nowNs: number): boolean;
  /** Accounts for a booking whose plan is gone. */
  forget(booking: Booking): void;
  /** One waiter more, or one less. */
  waits(change: 1 | -1): void;
  /** Emission interval in ns, 0 where nothing is limited. */
  intervalNs(): number;
  /** The heaviest call that can ever be granted; Infinity where nothing is limited. */
  maxWeight(): number;
  /** The error for a wait that is too long, or a queue that is full. */
  refusal(retryAfterMs: number, reason: 'wait' | 'full'): RateLimitExceededError;
  /** The error for a weight that can never be granted. */
  impossible(n: number): RangeError;
}

export interface QueueHost {
  nowNs(): number;
  /** Calls `fire` in `delayMs` or a little earlier or later; returns what cancels it. */
  arm(delayMs: number, fire: () => void): () => void;
  readonly signals: SignalHub;
  /** Most waiters of one limiter in this thread. */
  maxWaiters(): number;
}

export interface Grant {
  /** What was taken, to be spent or cancelled; undefined where nothing was limited. */
  readonly booking: Booking | undefined;
  readonly waitedNs: number;
}
