import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import type { Booked } from '../../src/workers/queued-limiter.js';
import { bothKernels } from '../shared/both-kernels.js';
import { BucketLine } from './bucket-line.js';
import { setSettings, VirtualClock } from './virtual-thread.js';

const FOR_EVER = Number.POSITIVE_INFINITY;

describe.each(bothKernels())('a queued bucket on the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  let clock: VirtualClock;
  let line: BucketLine;

  beforeEach(() => {
    arena = fresh();
    setSettings(arena);
    clock = new VirtualClock();
    line = new BucketLine(arena, clock);
    line.configure(1, 1);
  });

  const bookingOf = (booked: Booked) => {
    if (booked.kind !== 'booked') throw new Error(booked.kind);
    return booked.booking;
  };
  const book = (n = 1) => bookingOf(line.limiter.book(clock.nowNs(), n, FOR_EVER));

  it('books, refuses with the wait, and tells what is impossible or not limited', () => {
    expect(line.limiter.book(0, 1, 0)).toMatchObject({ kind: 'booked', booking: { atNs: 0 } });
    expect(line.limiter.book(0, 1, 0)).toEqual({ kind: 'refused', waitNs: 1e9 });
    expect(line.limiter.book(0, 2, FOR_EVER)).toEqual({ kind: 'impossible' });
    line.configure(0, 1);
    expect(line.limiter.book(0, 1000, 0)).toEqual({ kind: 'free' });
    expect(line.limiter.maxWeight()).toBe(FOR_EVER);
    expect(line.limiter.intervalNs()).toBe(0);
  });

  it('gives back none of three reservations at 0, 1000 and 2000 ms but the last: the others are lost', () => {
    const [first, second, third] = [book(), book(), book()];
    line.limiter.cancel(first as never, 0);
    expect(line.accounts()).toMatchObject({ granted: 3, returned: 0, lost: 1 });
    line.limiter.cancel(third as never, 0);
    expect(line.accounts()).toMatchObject({ granted: 3, returned: 1, lost: 1 });
    // The slot at 2000 ms is free again, and nobody else's.
    expect(book().atNs).toBe(2e9);
    line.limiter.cancel(second as never, 0);
    expect(line.accounts()).toMatchObject({ granted: 4, returned: 1, lost: 2 });
  });

  it('loses a booking that was re-planned: its own end is not known any more', () => {
    const booking = book();
    line.configure(10, 1);
    const revision = line.limiter.revise(booking);
    if (revision.kind !== 'booked') throw new Error(revision.kind);
    line.limiter.cancel(revision.booking, 0);
    expect(line.accounts()).toMatchObject({ granted: 1, returned: 0, lost: 1 });
    expect(line.available()).toBe(0);
  });

  it('forgets as returned what a reset has made good, and as lost what still stands in the debt', () => {
    const booking = book();
    for (let i = 0; i < 9; i++) line.configure(1 + i, 1);
    expect(line.limiter.revise(booking)).toEqual({ kind: 'void' });
    line.limiter.forget(booking);
    expect(line.accounts()).toMatchObject({ returned: 0, lost: 1 });
    const again = book();
    line.configure(1, 1, true);
    expect(line.limiter.revise(again)).toEqual({ kind: 'void' });
    line.limiter.forget(again);
    expect(line.accounts()).toMatchObject({ returned: 1, lost: 1 });
    expect(line.held()).toBe(0);
  });
});
