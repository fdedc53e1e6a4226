import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StrictLimiter } from '../../src/shared/strict-limiter.js';
import { bothKernels, strictPlace } from './both-kernels.js';

type Step =
  | { readonly kind: 'reserve'; readonly afterNs: number; readonly lateNs: number }
  | {
      readonly kind: 'configure';
      readonly afterNs: number;
      readonly qps: number;
      readonly reset: boolean;
    };

const afterNs = fc.oneof(fc.constant(0), fc.nat({ max: 2e9 }));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      afterNs,
      // Read from the clock so long before it takes effect.
      lateNs: fc.oneof(fc.constant(0), fc.nat({ max: 1e9 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('configure' as const),
      afterNs,
      qps: fc.double({ min: 0.1, max: 1e6, noNaN: true }),
      reset: fc.boolean(),
    }),
  },
);

describe.each(bothKernels())('a strict limiter on the $kind kernel', ({ fresh }) => {
  it('never plans two calls of one plan closer than the interval, nor one before its time', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.1, max: 1e6, noNaN: true }),
        fc.array(step, { maxLength: 60 }),
        (firstQps, steps) => {
          const arena = fresh();
          const limiter = new StrictLimiter(arena.kernel, strictPlace(arena), firstQps);
          let now = 0;
          let qps = firstQps;
          let last: { readonly atNs: number; readonly qps: number } | undefined;
          for (const next of steps) {
            now += next.afterNs;
            if (next.kind === 'configure') {
              limiter.configure(next.qps, now, next.reset);
              qps = next.qps;
              if (next.reset) last = undefined;
              continue;
            }
            const read = Math.max(now - next.lateNs, 0);
            const at = limiter.reserve(read);
            expect(at).toBeGreaterThanOrEqual(read);
            // After a change without a reset the slot before still ends by the old rate.
            if (last !== undefined && last.qps === qps)
              expect(at - last.atNs).toBeGreaterThanOrEqual(1e9 / qps - 1e-3);
            // No call waits longer than the queue before it makes it.
            if (last === undefined) expect(at).toBeLessThanOrEqual(now);
            last = { atNs: at, qps };
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
