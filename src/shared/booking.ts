/**
 * A reservation that a queue holds: when it may go, and under which configuration that was planned. Pure: what a change
 * of the limiter's configuration does to it.
 */
export interface Booking {
  readonly n: number;
  /** Planned time in ns. */
  readonly atNs: number;
  /** Config epoch that it was made, or last re-planned, under. */
  readonly epoch: number;
  /** Counts resets; another plan voids the booking. */
  readonly plan: number;
  readonly intervalNs: number;
  /** The limiter's word before and after, while the booking can still be undone by its own end. */
  readonly undo: { readonly begin: bigint; readonly end: bigint } | undefined;
}

/** What was taken on the spot: due at once, never re-planned. */
export function taken(n: number, nowNs: number, undo: Booking['undo']): Booking {
  return { n, atNs: nowNs, epoch: -1, plan: -1, intervalNs: 0, undo };
}

/** One configuration of a limiter, as a booking sees it. */
export interface BookedTerms {
  readonly epoch: number;
  readonly plan: number;
  /** 0: nothing is limited. */
  readonly intervalNs: number;
  readonly tauNs: number;
  /** When it came into force, in ns. */
  readonly changedAtNs: number;
}

export type Revision =
  /** Still as planned, or moved. */
  | { readonly kind: 'booked'; readonly booking: Booking }
  /** The plan is gone: book again, in the queue's order. */
  | { readonly kind: 'void' }
  /** Nothing is limited any more: go. */
  | { readonly kind: 'free' }
  /** Heavier than the bucket is now: it never goes. */
  | { readonly kind: 'impossible' };

/**
 * What becomes of `booking` under the changes since, oldest first, the last one in force. `undefined` stands for changes
 * whose terms are no longer known. A debt is kept in tokens when the rate changes, so what is left of the wait scales
 * with the emission interval; with `keepsTimes` (the strict limiter) planned times stay as they are.
 */
export function revise(
  booking: Booking,
  changes: readonly BookedTerms[] | undefined,
  keepsTimes: boolean,
): Revision {
  if (changes === undefined) return { kind: 'void' };
  let { atNs, intervalNs } = booking;
  for (const terms of changes) {
    if (terms.intervalNs === 0) continue;
    if (!keepsTimes && intervalNs > 0 && atNs > terms.changedAtNs) {
      atNs = Math.ceil(
        terms.changedAtNs + (atNs - terms.changedAtNs) * (terms.intervalNs / intervalNs),
      );
    }
    intervalNs = terms.intervalNs;
  }
  const last = changes.at(-1);
  if (last === undefined) return { kind: 'booked', booking };
  if (last.intervalNs === 0) return { kind: 'free' };
  if (booking.n * last.intervalNs > last.tauNs) return { kind: 'impossible' };
  if (last.plan !== booking.plan) return { kind: 'void' };
  return {
    kind: 'booked',
    booking: { ...booking, atNs, intervalNs, epoch: last.epoch, undo: undefined },
  };
}
