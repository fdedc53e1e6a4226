import { describe, expect, it } from 'vitest';
import { type BookedTerms, type Booking, revise } from '../../src/shared/booking.js';

const booking: Booking = {
  n: 2,
  atNs: 1000,
  epoch: 5,
  plan: 1,
  intervalNs: 100,
  undo: { begin: 1n, end: 2n },
};

const change = (epoch: number, changedAtNs: number, intervalNs: number, plan = 1): BookedTerms => ({
  epoch,
  plan,
  intervalNs,
  tauNs: intervalNs * 10,
  changedAtNs,
});

describe('revise', () => {
  it('leaves a booking alone when nothing has changed', () => {
    expect(revise(booking, [], false)).toEqual({ kind: 'booked', booking });
  });

  it('stretches what is left of the wait with the emission interval, and takes the undo away', () => {
    expect(revise(booking, [change(6, 400, 200)], false)).toEqual({
      kind: 'booked',
      booking: { ...booking, atNs: 1600, epoch: 6, intervalNs: 200, undo: undefined },
    });
  });

  it('follows several changes in a row, each from its own moment', () => {
    // 600 left at 400; a tenth of it: 60. 30 left at 430; five times: 150.
    const changes = [change(6, 400, 10), change(7, 430, 50)];
    expect(revise(booking, changes, false)).toMatchObject({
      kind: 'booked',
      booking: { atNs: 580, epoch: 7, intervalNs: 50 },
    });
  });

  it('does not move what was due before a change', () => {
    expect(revise(booking, [change(6, 1000, 1e6)], false)).toMatchObject({
      booking: { atNs: 1000 },
    });
    expect(revise(booking, [change(6, 2000, 1)], false)).toMatchObject({ booking: { atNs: 1000 } });
  });

  it('rounds up: never early by a fraction', () => {
    expect(revise(booking, [change(6, 999, 33)], false)).toMatchObject({ booking: { atNs: 1000 } });
    expect(revise(booking, [change(6, 998, 133)], false)).toMatchObject({
      booking: { atNs: 1001 },
    });
  });

  it('keeps planned times where a change does not move them', () => {
    const terms = [{ ...change(6, 0, 5), tauNs: 10 }];
    expect(revise(booking, terms, true)).toMatchObject({
      kind: 'booked',
      booking: { atNs: 1000, epoch: 6, intervalNs: 5 },
    });
  });

  it('is free once nothing is limited, whatever came before', () => {
    expect(revise(booking, [change(6, 0, 50), change(7, 0, 0)], false)).toEqual({ kind: 'free' });
    expect(revise(booking, [change(6, 0, 0)], true)).toEqual({ kind: 'free' });
  });

  it('is void after a reset, and after a time without a limit', () => {
    expect(revise(booking, [change(6, 0, 100, 2)], false)).toEqual({ kind: 'void' });
    expect(revise(booking, [change(6, 0, 0), change(7, 0, 100, 2)], false)).toEqual({
      kind: 'void',
    });
  });

  it('is void after more changes than are known', () => {
    expect(revise(booking, undefined, false)).toEqual({ kind: 'void' });
  });

  it('is impossible when it weighs more than the bucket ever holds now', () => {
    const small = { ...change(6, 0, 100), tauNs: 199 };
    expect(revise(booking, [small], false)).toEqual({ kind: 'impossible' });
    expect(revise(booking, [{ ...small, tauNs: 200 }], false)).toMatchObject({ kind: 'booked' });
    // Also when it would have to be booked anew.
    expect(revise(booking, [{ ...small, plan: 2 }], false)).toEqual({ kind: 'impossible' });
  });
});
