import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyDirectory } from '../../src/shared/key-directory.js';
import { intervalNs } from '../../src/shared/quota.js';
import { type Granted, type TermsSince, worstExcess } from '../shared/grant-bound.js';
import { createVirtualGates } from './virtual-gate.js';

const thread = fc.nat({ max: 1 });
const table = fc.option(fc.nat({ max: 2 }), { nil: undefined });
const qps = fc.constantFrom(0.5, 5, 50, 500);

const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      thread,
      table,
      weight: fc.integer({ min: 1, max: 3 }),
      count: fc.integer({ min: 1, max: 4 }),
      maxWaitMs: fc.constantFrom(0, 50, 2000, 60_000),
      signal: fc.nat({ max: 3 }),
      throws: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('abort' as const), signal: fc.nat({ max: 3 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat({ max: 500 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('limit' as const),
      table: fc.nat({ max: 2 }),
      qps: fc.oneof(fc.constant(0), qps),
      reset: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('configure' as const),
      qps,
      burst: fc.integer({ min: 3, max: 6 }),
    }),
  },
);

describe.each([
  ['wasm', false],
  ['twin', true],
] as const)('two gates on the %s kernel', (_, twin) => {
  it('account for every permit of every stage, within the bound, whatever is aborted and changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 50, size: 'max' }), async (sequence) => {
        const first = { qps: 50, burst: 3 };
        const gates = createVirtualGates(
          {
            host: { rpcs: { write: { qpsPerCore: first.qps, burst: first.burst } } },
            tables: { enabled: true, rpcs: ['write'] },
          },
          // One shared WebAssembly memory after the other: each reserves address space until it is collected.
          twin,
        );
        const { time, arena } = gates;
        const nowNs = (): number => time.nowMs * 1e6;
        const both = [gates.gate(), gates.gate()];
        const pairs = new KeyDirectory(
          arena.buffer,
          arena.layout.directory,
          arena.layout.capacity.pairs,
        );
        let controllers = [0, 1, 2, 3].map(() => new AbortController());
        const signals = new Set<AbortSignal>();
        const history: TermsSince[] = [{ fromNs: 0, ...first }];
        const started: Granted[] = [];
        const calls: Promise<unknown>[] = [];
        for (const next of sequence) {
          if (next.kind === 'call') {
            for (let i = 0; i < next.count; i++) {
              const { signal } = controllers[next.signal] as AbortController;
              signals.add(signal);
              const { weight, maxWaitMs, throws } = next;
              const call = both[next.thread]?.call(
                {
                  rpc: 'write',
                  weight,
                  maxWaitMs,
                  signal,
                  ...(next.table !== undefined && { table: next.table }),
                },
                () => {
                  started.push({ atNs: nowNs(), n: weight });
                  if (throws) throw new Error('the attempt');
                },
              );
              calls.push(Promise.resolve(call).catch(() => undefined));
            }
          } else if (next.kind === 'abort') {
            controllers[next.signal]?.abort();
            controllers = controllers.map((old) =>
              old.signal.aborted ? new AbortController() : old,
            );
          } else if (next.kind === 'pass') {
            await time.advanceToAsync(time.nowMs + next.ms);
          } else if (next.kind === 'limit') {
            const cell = pairs.findOrInsert(0, String(next.table));
            const interval = next.qps === 0 ? 0 : intervalNs(next.qps);
            arena.kernel.strictConfigure(cell, nowNs(), interval, next.qps, next.reset ? 1 : 0);
            for (const gate of both) gate.refresh();
          } else {
            const { burst } = next;
            gates.configure({ host: { rpcs: { write: { qpsPerCore: next.qps, burst } } } });
            history.push({ fromNs: nowNs(), qps: next.qps, burst });
          }
          await time.settleAsync();
          expect(gates.snapshot().conservation.ok).toBe(true);
        }
        for (const gate of both) gate.detach();
        await Promise.all(calls);
        for (const signal of signals) expect(getEventListeners(signal, 'abort')).toEqual([]);
        expect(time.pendingTimers).toBe(0);
        // Timers of whole ms may let who waits go up to a millisecond late, beside the one that comes then.
        const lateNs = 1e6;
        const most = Math.max(...history.map((terms) => terms.qps));
        expect(worstExcess(started, history)).toBeLessThanOrEqual((most * lateNs) / 1e9 + 1e-4);
      }),
      { numRuns: 60 },
    );
  });
});
