import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CALL_STATS } from '../../src/shared/layout.js';
import type { Grant } from '../../src/workers/queued-limiter.js';
import { bothKernels, counter } from '../shared/both-kernels.js';
import { BucketLine } from './bucket-line.js';
import { setSettings, settled, VirtualClock, type Watched } from './virtual-thread.js';

const HEAVIEST = 8;
const thread = fc.nat({ max: 1 });
const quota = fc.record({
  qps: fc.oneof(
    fc.constantFrom(0, 0.1, 1, 10, 50, 1000, 50_000),
    fc.double({ min: 0.1, max: 5000, noNaN: true }),
  ),
  burst: fc.integer({ min: 1, max: HEAVIEST }),
});

const steps = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('acquire' as const),
      thread,
      n: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: HEAVIEST })),
      count: fc.integer({ min: 1, max: 5 }),
      maxWaitMs: fc.oneof(fc.constantFrom(0, 86_400_000), fc.nat({ max: 3000 })),
      signal: fc.option(fc.nat({ max: 2 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('tryAcquire' as const),
      thread,
      n: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('abort' as const), signal: fc.nat({ max: 2 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('pass' as const, 'stall' as const),
      ms: fc.oneof(
        fc.nat({ max: 20 }),
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.nat({ max: 2000 }),
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('configure' as const),
      to: quota,
      reset: fc.boolean(),
      /** Which of the threads hear of it at once. */
      told: fc.nat({ max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('reject' as const, 'release' as const), thread }),
  },
);

describe.each(bothKernels())('two wait queues on the $kind kernel', ({ fresh }) => {
  it('grant in order, within the bound, never early, and account for every permit', async () => {
    await fc.assert(
      fc.asyncProperty(
        quota,
        fc.array(steps, { maxLength: 60, size: 'max' }),
        fc.array(fc.constantFrom(0, 0.1, 1.2, -0.9, 5), { minLength: 1, maxLength: 5 }),
        async (first, sequence, latenessMs) => {
          const arena = fresh();
          setSettings(arena, { maxWaiters: 20 });
          let timer = 0;
          const clock = new VirtualClock({
            lateMs: () => latenessMs[timer++ % latenessMs.length] as number,
          });
          const line = new BucketLine(arena, clock);
          const lines = [line, new BucketLine(arena, clock, 1)];
          const calls: Watched<Grant>[][] = [[], []];
          let controllers = [0, 1, 2].map(() => new AbortController());
          const everySignal = controllers.map(({ signal }) => signal);
          line.configure(first.qps, first.burst);

          for (const step of sequence) {
            const current = lines['thread' in step ? step.thread : 0] as BucketLine;
            if (step.kind === 'acquire') {
              const { n, maxWaitMs, signal } = step;
              for (let i = 0; i < step.count; i++) {
                const made = current.acquire({
                  n,
                  maxWaitMs,
                  ...(signal === null
                    ? {}
                    : { signal: controllers[signal]?.signal as AbortSignal }),
                });
                calls[step.thread]?.push(made);
              }
            } else if (step.kind === 'tryAcquire') {
              current.tryAcquire(step.n);
            } else if (step.kind === 'abort') {
              controllers[step.signal]?.abort();
              controllers = controllers.map((old) =>
                old.signal.aborted ? new AbortController() : old,
              );
              everySignal.push(...controllers.map(({ signal }) => signal));
            } else if (step.kind === 'pass') {
              await clock.pass(step.ms);
            } else if (step.kind === 'stall') {
              clock.stall(step.ms);
            } else if (step.kind === 'configure') {
              // Between two changes that nobody heard of, no weight became impossible.
              const burst = step.told === 3 ? step.to.burst : HEAVIEST;
              line.configure(step.to.qps, burst, step.reset);
              for (const [i, told] of lines.entries())
                if ((step.told & (1 << i)) !== 0) told.queue.pump();
            } else if (step.kind === 'reject') {
              current.queue.rejectAll('closed');
            } else {
              current.queue.releaseAll();
            }
            await settled();
            expect(clock.armed).toBeLessThanOrEqual(2);
            for (const { queue } of lines) expect(queue.size).toBeLessThanOrEqual(20);
            for (const [place, { queue }] of lines.entries()) {
              const calls = arena.layout.thread(place).calls(0);
              expect(counter(arena, calls, CALL_STATS.HOST_WAITING)).toBe(queue.size);
            }
            for (const each of lines) expect(each.held()).toBeGreaterThanOrEqual(0);
          }

          for (const { queue } of lines) queue.pump();
          await clock.pass(0);
          for (const { queue } of lines) queue.rejectAll('closed');
          await clock.pass(0);
          expect(calls.flat().filter(({ state }) => state === 'pending')).toEqual([]);
          expect(clock.armed).toBe(0);
          for (const each of lines) {
            expect(each.held()).toBe(0);
            // Nobody goes before the time that was planned for it.
            for (const [i, { atNs }] of each.gone.entries())
              expect(atNs).toBeGreaterThanOrEqual(each.planned[i]?.atNs as number);
          }
          for (const own of calls) {
            const granted = own.filter(({ state }) => state === 'resolved').map(({ atMs }) => atMs);
            expect(granted).toEqual(granted.toSorted((a, b) => a - b));
          }
          for (const signal of new Set(everySignal))
            expect(getEventListeners(signal, 'abort')).toEqual([]);
          line.planned.push(...(lines[1] as BucketLine).planned);
          // Times are cut to whole ns: some of them are 0.0001 permits at the highest rate.
          expect(line.excess()).toBeLessThanOrEqual(2e-4);
        },
      ),
      { numRuns: 120 },
    );
  });
});
