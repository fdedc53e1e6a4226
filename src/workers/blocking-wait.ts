/** Waiting for a limiter by blocking the thread: by one `Atomics.wait` after the other on the word that counts changes. */
import { RuntimeClosedError } from '../shared/errors.js';
import { HEADER } from '../shared/layout.js';
import type { Grant, QueuedLimiter } from './queued-limiter.js';
import type { ThreadContext } from './thread-context.js';

/**
 * Takes `n` permits, from `sinceNs` to `deadlineNs` at the latest.
 * @throws the limiter's refusal, nothing taken; RuntimeClosedError.
 */
export function blockForPermits(
  thread: ThreadContext,
  limiter: QueuedLimiter,
  n: number,
  sinceNs: number,
  deadlineNs: number,
): Grant {
  const { i32 } = thread.arena;
  let booked = limiter.book(sinceNs, n, deadlineNs - sinceNs);
  for (let now = sinceNs; ; now = thread.nowNs()) {
    const change = Atomics.load(i32, HEADER.CHANGES >>> 2);
    if (booked.kind === 'free') return { booking: undefined, waitedNs: 0 };
    if (booked.kind === 'impossible') throw limiter.impossible(n);
    if (booked.kind === 'refused') throw limiter.refusal(booked.waitNs / 1e6, 'wait');
    const { booking } = booked;
    if (thread.closing()) {
      limiter.cancel(booking, now);
      throw new RuntimeClosedError();
    }
    if (booking.epoch !== limiter.epoch()) {
      const revision = limiter.revise(booking);
      if (revision.kind === 'impossible') limiter.cancel(booking, now);
      else if (revision.kind !== 'booked') limiter.forget(booking);
      booked =
        revision.kind === 'void' ? limiter.book(now, n, Math.max(deadlineNs - now, 0)) : revision;
      continue;
    }
    if (booking.atNs <= now) return { booking, waitedNs: now - sinceNs };
    if (now > deadlineNs) {
      limiter.cancel(booking, now);
      throw limiter.refusal((booking.atNs - now) / 1e6, 'wait');
    }
    const timeoutMs = (Math.min(booking.atNs, deadlineNs) - now) / 1e6 + 0.01;
    limiter.waits(1);
    Atomics.wait(i32, HEADER.CHANGES >>> 2, change, timeoutMs);
    limiter.waits(-1);
  }
}
