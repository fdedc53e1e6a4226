import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Hottest } from '../../../src/actors/throttle/hottest.js';

const rate = fc.oneof(fc.integer({ min: -1, max: 20 }), fc.double());

it('keeps the k highest rates above zero, fastest first, as sorting all of them would', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1, max: 12 }),
      fc.array(rate, { maxLength: 100 }),
      (k, rates) => {
        const hottest = new Hottest(k);
        for (const [id, one] of rates.entries()) hottest.offer(id, one);
        const ranked = hottest.ranked();
        const expected = rates
          .filter((one) => one > 0)
          .sort((a, b) => b - a)
          .slice(0, Math.max(0, k));
        expect(ranked.map((one) => one.rate)).toEqual(expected);
        expect(new Set(ranked.map(({ id }) => id)).size).toBe(ranked.length);
        for (const { id, rate: kept } of ranked) expect(rates[id]).toBe(kept);
      },
    ),
  );
});
