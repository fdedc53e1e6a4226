import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Booking, revise } from '../../src/shared/booking.js';
import { TakeCode } from '../../src/shared/kernel/port.js';
import { bookingAt, bucketWords } from '../../src/shared/limiter-words.js';
import { intervalNs } from '../../src/shared/quota.js';
import { TokenBucket } from '../../src/shared/token-bucket.js';
import { bothKernels, bucketPlace } from './both-kernels.js';
import { ExactBucket } from './exact-bucket.js';
import { type Granted, type TermsSince, worstExcess } from './grant-bound.js';

/** Rates of every magnitude, and bursts that a test can use up. */
const qps = fc.oneof(
  fc.double({ min: 0.1, max: 100, noNaN: true }),
  fc.double({ min: 100, max: 1e6, noNaN: true }),
  fc.constantFrom(0.1, 1, 3, 10, 1000, 1e6),
);
const burst = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 20 }));
const quota = fc.record({ qps, burst });
const weight = fc.oneof(
  fc.constant(1),
  fc.integer({ min: 1, max: 3 }),
  fc.integer({ min: 1, max: 12 }),
);
/** Time that passes, in parts of the time that a permit takes: a test of a rate is one of every rate. */
const permits = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.double({ min: 0, max: 3, noNaN: true }) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 40, noNaN: true }) },
);

describe.each(bothKernels())('a bucket on the $kind kernel', ({ fresh }) => {
  it('decides as an exact one does', () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant('take'), after: permits, n: weight }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('reserve'), after: permits, n: weight }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('refund'), after: permits, n: weight }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('configure'), after: permits, to: quota }),
      },
    );
    fc.assert(
      fc.property(quota, fc.array(step, { maxLength: 50 }), (first, steps) => {
        const arena = fresh();
        const { bucket: word } = bucketPlace(arena);
        const bucket = new TokenBucket(arena.kernel, bucketPlace(arena), first);
        let interval = intervalNs(first.qps);
        const exact = new ExactBucket(0n, BigInt(interval), BigInt(first.burst));
        let now = 0;
        let most = first.burst;
        for (const next of steps) {
          now += Math.floor(next.after * interval);
          const at = BigInt(now);
          if ('to' in next) {
            bucket.configure(next.to, now);
            interval = intervalNs(next.to.qps);
            most = next.to.burst;
            exact.configure(at, BigInt(interval), BigInt(most));
            // The kernel scales in floating point: never up by more than its last bit.
            const held = Math.round(arena.kernel.available(word, now) * interval);
            const off = held - Number(exact.levelNs(at));
            expect(Math.abs(off)).toBeLessThanOrEqual(1 + Math.abs(held) * 2 ** -50);
            exact.adopt(BigInt(held));
          } else if (next.kind === 'take') {
            if (next.n > most) expect(() => bucket.tryAcquire(now, next.n)).toThrow(RangeError);
            else expect(bucket.tryAcquire(now, next.n)).toBe(exact.take(at, BigInt(next.n)));
          } else if (next.kind === 'reserve') {
            expect(bucket.reserve(now, next.n)).toBe(Number(exact.reserve(at, BigInt(next.n))));
          } else {
            bucket.refund(next.n);
            exact.levelNs(at);
            exact.refund(BigInt(next.n));
          }
          const level = Math.round(bucket.available(now) * interval);
          expect(level).toBe(Number(exact.levelNs(at)));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the bound over every window, when threads commit long after they read the clock', () => {
    const call = fc.record({
      after: permits,
      /** How long ago this thread has read its clock, in permits. */
      late: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 10, noNaN: true })),
      n: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(quota, fc.array(call, { minLength: 1, maxLength: 80 }), (terms, calls) => {
        const arena = fresh();
        const { bucket, stats } = bucketPlace(arena);
        const created = new TokenBucket(arena.kernel, bucketPlace(arena), terms);
        expect(created.available(0)).toBe(terms.burst);
        const interval = intervalNs(terms.qps);
        const grants: Granted[] = [];
        let now = 0;
        for (const { after, late, n } of calls) {
          now += after * interval;
          const read = Math.max(now - late * interval, 0);
          if (arena.kernel.tryAcquire(bucket, stats, read, n) === TakeCode.GRANTED)
            grants.push({ atNs: read, n });
        }
        expect(worstExcess(grants, [{ fromNs: 0, ...terms }])).toBeLessThanOrEqual(1e-6);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the bound over every window through takes, reservations, give-backs, changes and resets', () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant('take' as const), after: permits, n: weight }),
      },
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant('hold' as const), after: permits, n: weight }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('reserve' as const), after: permits, n: weight }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constantFrom('drain' as const, 'spend' as const),
          after: permits,
        }),
      },
      {
        weight: 5,
        arbitrary: fc.record({
          // Also long after it was due, as by a call that another stage holds up.
          kind: fc.constant('giveBack' as const),
          after: permits,
          which: fc.nat({ max: 7 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constantFrom('configure' as const, 'reset' as const),
          after: permits,
          to: quota,
        }),
      },
    );
    fc.assert(
      fc.property(quota, fc.array(step, { maxLength: 60, size: 'max' }), (first, steps) => {
        const arena = fresh();
        const { kernel, u64 } = arena;
        const place = bucketPlace(arena);
        const { bucket: word, stats, scratch } = place;
        const words = bucketWords(arena, word);
        const bucket = new TokenBucket(kernel, place, first);
        const history: TermsSince[] = [{ fromNs: 0, ...first }];
        const grants: Granted[] = [];
        /** Taken and not yet spent, newest first; what undoes it is kept also through changes. */
        let held: { readonly booking: Booking; readonly undo: Booking['undo'] }[] = [];
        const hold = (n: number, atNs: number): void => {
          const booking = bookingAt(arena, words, scratch, n, atNs);
          held.unshift({ booking, undo: booking.undo });
        };
        let interval = intervalNs(first.qps);
        let most = first.burst;
        let now = 0;
        /** Whoever was due in time has gone. */
        const grantUntil = (at: number): void => {
          const due = held.filter(({ booking }) => booking.atNs <= at);
          grants.push(...due.map(({ booking }) => booking));
          held = held.filter(({ booking }) => booking.atNs > at);
        };
        for (const next of steps) {
          now += Math.floor(next.after * interval);
          if (next.kind === 'spend') {
            grantUntil(now);
          } else if (next.kind === 'drain') {
            while (kernel.tryAcquire(word, stats, now, 1) === TakeCode.GRANTED)
              grants.push({ atNs: now, n: 1 });
          } else if (next.kind === 'take') {
            if (kernel.tryAcquire(word, stats, now, next.n) === TakeCode.GRANTED)
              grants.push({ atNs: now, n: next.n });
          } else if (next.kind === 'hold') {
            if (kernel.hold(word, stats, scratch, now, next.n) === TakeCode.GRANTED)
              hold(next.n, now);
          } else if (next.kind === 'reserve') {
            if (next.n > most) continue;
            const wait = kernel.reserve(word, stats, scratch, now, next.n, 60 * interval);
            if (wait >= 0) hold(next.n, now + wait);
          } else if (next.kind === 'giveBack') {
            const [left] = held.splice(next.which % Math.max(held.length, 1), 1);
            if (left?.undo === undefined) continue;
            u64[scratch >>> 3] = left.undo.begin;
            u64[(scratch >>> 3) + 1] = left.undo.end;
            kernel.giveBack(word, stats, scratch, now, left.booking.n);
          } else if ('to' in next) {
            const fresh = next.kind === 'reset';
            if (fresh) bucket.reset(next.to, now);
            else bucket.configure(next.to, now);
            interval = intervalNs(next.to.qps);
            most = next.to.burst;
            history.push({ fromNs: now, ...next.to, fresh });
            held = held.flatMap((left) => {
              const { booking, undo } = left;
              if (booking.atNs <= now) return [left];
              const revision = revise(booking, words.changesSince(booking.epoch), false);
              return revision.kind === 'booked' ? [{ booking: revision.booking, undo }] : [];
            });
          }
        }
        grantUntil(Number.POSITIVE_INFINITY);
        expect(worstExcess(grants, history)).toBeLessThanOrEqual(1e-5);
      }),
      { numRuns: 500 },
    );
  });
});
