import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import { revise } from '../../src/shared/booking.js';
import { bookingAt, bucketWords } from '../../src/shared/limiter-words.js';
import { bothKernels, bucketPlace } from './both-kernels.js';

const intervalNs = fc.integer({ min: 100, max: 1e9 });
const BURST = 50;

describe.each(bothKernels())('a booking under the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  beforeEach(() => {
    arena = fresh();
  });

  it('is re-planned to when the bucket itself is out of debt', () => {
    fc.assert(
      fc.property(
        intervalNs,
        fc.integer({ min: BURST + 1, max: 500 }),
        fc.array(fc.record({ interval: intervalNs, afterNs: fc.nat({ max: 1e9 }) }), {
          minLength: 1,
          maxLength: 6,
        }),
        (first, taken, changes) => {
          arena.u64.fill(0n);
          const { kernel } = arena;
          const { bucket, stats, scratch } = bucketPlace(arena);
          const words = bucketWords(arena, bucket);
          const configure = (now: number, interval: number): void =>
            kernel.configure(bucket, now, interval, BURST * interval, 1e9 / interval, BURST, 0);
          configure(0, first);
          kernel.reserve(bucket, stats, scratch, 0, taken - 1, Number.POSITIVE_INFINITY);
          const wait = kernel.reserve(bucket, stats, scratch, 0, 1, Number.POSITIVE_INFINITY);
          const booking = bookingAt(arena, words, scratch, 1, wait);
          let now = 0;
          for (const { interval, afterNs } of changes) {
            now += afterNs;
            configure(now, interval);
          }
          const revision = revise(booking, words.changesSince(booking.epoch), false);
          if (revision.kind !== 'booked') throw new Error(revision.kind);
          const { atNs } = revision.booking;
          if (atNs <= now) return;
          // Our permit was the last one taken: it is due when the balance is back to zero, and not earlier.
          expect(kernel.available(bucket, atNs + changes.length)).toBeGreaterThanOrEqual(0);
          const lastInterval = changes.at(-1)?.interval as number;
          expect(kernel.available(bucket, atNs) * lastInterval).toBeLessThan(changes.length * 2);
        },
      ),
      { numRuns: 200 },
    );
  });
});
