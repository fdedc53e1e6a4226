import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSpillwayError, type RateLimitExceededError } from '../../src/shared/errors.js';
import { ThrottleWindows } from '../../src/shared/pressure/throttle-windows.js';
import { createVirtualGates } from './virtual-gate.js';

const THREADS = 3;
const MAX_THROTTLE_MS = 3000;

const bucket = fc.constantFrom('a', 'b');
const thread = fc.nat(THREADS - 1);
const pressure = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 7, -1));
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('report' as const), thread, bucket, pressure }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      thread,
      bucket,
      maxWaitMs: fc.integer({ min: 0, max: 9000 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), call: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(1500) }) },
);

it('no call goes while its bucket has a window, none waits beyond its patience, and all end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const gates = createVirtualGates({
        host: { rpcs: { get: { qpsPerCore: 0 } } },
        pressure: { maxThrottleMs: MAX_THROTTLE_MS },
      });
      const { time } = gates;
      const all = Array.from({ length: THREADS }, () => gates.gate());
      const model = new ThrottleWindows(MAX_THROTTLE_MS);
      const controllers: AbortController[] = [];
      let open = 0;
      const call = (n: number, name: string, maxWaitMs: number): void => {
        const controller = new AbortController();
        controllers.push(controller);
        const { signal } = controller;
        const deadlineMs = time.nowMs + maxWaitMs;
        open += 1;
        all[n]
          ?.call({ rpc: 'get', bucket: name, maxWaitMs, signal }, () => {
            expect(model.remainingMs(name, time.nowMs)).toBe(0);
            expect(time.nowMs).toBeLessThanOrEqual(deadlineMs);
          })
          .catch((error: unknown) => {
            if (error === signal.reason) return;
            if (!isSpillwayError(error)) throw error;
            const { stage, retryAfterMs } = error as RateLimitExceededError;
            expect(stage).toBe('pressure');
            // It could not have waited for what there was.
            expect(time.nowMs + retryAfterMs).toBeGreaterThan(deadlineMs);
            expect(retryAfterMs).toBe(model.remainingMs(name, time.nowMs));
          })
          .then(
            () => {
              open -= 1;
            },
            (failure: unknown) => failures.push(failure),
          );
      };
      const failures: unknown[] = [];
      for (const one of steps) {
        if (one.kind === 'report') {
          all[one.thread]?.pressure(one.bucket).report(one.pressure);
          model.signal(one.bucket, one.pressure, time.nowMs);
          // The control thread's part.
          for (const gate of all) gate.refresh();
        } else if (one.kind === 'call') call(one.thread, one.bucket, one.maxWaitMs);
        else if (one.kind === 'abort') controllers[one.call]?.abort(new Error('gone'));
        else await time.advanceToAsync(time.nowMs + one.ms);
        await time.settleAsync();
      }
      await time.advanceToAsync(time.nowMs + MAX_THROTTLE_MS);
      await time.settleAsync();
      expect(failures).toEqual([]);
      expect(open).toBe(0);
      expect(time.pendingTimers).toBe(0);
      expect(gates.snapshot().pressureTotals).toMatchObject({ open: 0, waiting: 0 });
    }),
    { numRuns: 150 },
  );
});
