import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BusyError } from '../../src/shared/errors.js';
import { KeyDirectory } from '../../src/shared/key-directory.js';
import { THREAD } from '../../src/shared/layout.js';
import { intervalNs } from '../../src/shared/quota.js';
import type { Verdict } from '../../src/shared/verdict.js';
import type { CallOptions } from '../../src/workers/call-options.js';
import type { Gate } from '../../src/workers/gate.js';
import { createVirtualGates, type VirtualGates } from './virtual-gate.js';

const CALLS = 60;
const THREADS = 3;
const PEERS = ['10.0.0.1:80', '10.0.0.2:80'] as const;

/** xorshift32: the same draws for the same seed. */
function drawsOf(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

type Draw = ReturnType<typeof drawsOf>;

function createFaultyGates(draw: Draw): VirtualGates {
  const gates = createVirtualGates({
    host: { rpcs: { read: { qpsPerCore: 400, burst: 4 }, free: { qpsPerCore: 0 } } },
    tables: { enabled: true, rpcs: ['read'] },
    breaker: { failureThreshold: 2, cooldownMs: 40, probeTimeoutMs: 30 },
    retry: { maxAttempts: 3, baseDelayMs: 4, maxDelayMs: 10, budgetPerSecond: 200 },
    waiting: { maxWaitMs: 30, maxWaiters: 12 },
  });
  const { arena } = gates;
  const { directory, capacity } = arena.layout;
  const cell = new KeyDirectory(arena.buffer, directory, capacity.pairs).findOrInsert(0, 'slow');
  const qps = 100 + draw(200);
  arena.kernel.strictConfigure(cell, 0, intervalNs(qps), qps, 0);
  return gates;
}

function maybe<T>(draw: Draw, percent: number, value: () => T): T | undefined {
  return draw(100) < percent ? value() : undefined;
}

function drawOptions(draw: Draw, signal: AbortSignal | undefined): CallOptions<string> {
  const given = {
    table: maybe(draw, 60, () => ['slow', 'fast'][draw(2)]),
    address: maybe(draw, 60, () => PEERS[draw(2)]),
    weight: maybe(draw, 30, () => 1 + draw(5)),
    maxWaitMs: maybe(draw, 40, () => draw(20)),
    attemptTimeoutMs: maybe(draw, 50, () => 1 + draw(12)),
    deadlineMs: maybe(draw, 40, () => 1 + draw(50)),
    retry: maybe(draw, 20, () => false as const),
    explain: maybe(draw, 20, () => true),
    classify: maybe(draw, 30, () => () => drawVerdict(draw)),
    signal,
  };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  return { rpc: draw(4) === 0 ? 'free' : 'read', ...Object.fromEntries(named) };
}

function drawVerdict(draw: Draw): Verdict {
  const kinds: (() => Verdict)[] = [
    () => 'success',
    () => 'busy',
    () => 'failure',
    () => 'ignored',
    () => ({ kind: 'refused', retryAfterMs: draw(8) }),
    () => 'no verdict' as Verdict,
    () => {
      throw new Error('classifier');
    },
  ];
  return (kinds[draw(kinds.length)] as () => Verdict)();
}

/** Answers, fails or throws, at once or later; every attempt ends at last. */
function drawAttempt(gates: VirtualGates, draw: Draw): () => Promise<string> | string {
  const later = (ms: number): Promise<void> =>
    new Promise((resolve) => gates.time.setTimer(ms, resolve));
  const kinds: (() => Promise<string> | string)[] = [
    () => 'at once',
    () => {
      throw new Error('at once');
    },
    async () => 'soon',
    async () => {
      throw new BusyError('busy', maybe(draw, 50, () => ({ retryAfterMs: draw(10) })) ?? {});
    },
    () => later(draw(25)).then(() => 'later'),
    () =>
      later(draw(25)).then(() => {
        throw new Error('later');
      }),
    () => later(400).then(() => 'very late'),
  ];
  return () => (kinds[draw(kinds.length)] as () => Promise<string> | string)();
}

/** Aborts at some time, or at some turn of the microtask queue: between any two awaits of the call. */
async function abortSometime(
  gates: VirtualGates,
  draw: Draw,
  abort: AbortController,
): Promise<void> {
  if (draw(2) === 0) {
    gates.time.setTimer(draw(30), () => abort.abort('gone'));
    return;
  }
  for (let turns = draw(24); turns > 0; turns -= 1) await undefined;
  abort.abort('gone');
}

async function runCalls(gates: VirtualGates, draw: Draw, shared: AbortSignal): Promise<number> {
  const threads: Gate[] = Array.from({ length: THREADS }, () =>
    gates.gate({ random: () => draw(1000) / 1000 }),
  );
  let ends = 0;
  const calls: Promise<void>[] = [];
  for (let i = 0; i < CALLS; i += 1) {
    const abort = maybe(draw, 40, () => new AbortController());
    const options = drawOptions(draw, abort?.signal ?? maybe(draw, 50, () => shared));
    const gate = threads[draw(THREADS)] as Gate;
    const end = (): void => {
      ends += 1;
    };
    calls.push(gate.call(options, drawAttempt(gates, draw)).then(end, end));
    if (abort !== undefined) calls.push(abortSometime(gates, draw, abort));
    if (draw(3) === 0) await gates.time.advanceToAsync(gates.time.nowMs + draw(12));
    if (draw(15) === 0) gates.time.stallTo(gates.time.nowMs + draw(60));
    if (draw(12) === 0) {
      const burst = 1 + draw(5);
      const qpsPerCore = [0, 100, 1000][draw(3)] as number;
      gates.configure({ host: { rpcs: { read: { qpsPerCore, burst } } } });
    }
    if (draw(20) === 0) gates.configure({ breaker: { enabled: draw(2) === 0 } });
  }
  if (draw(3) === 0) threads[0]?.detach();
  await gates.time.advanceToAsync(gates.time.nowMs + 2000);
  await Promise.all(calls);
  return ends;
}

it('whatever fails, and whenever: every call ends, permits are conserved, nothing stays behind', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
      const draw = drawsOf(seed);
      const gates = createFaultyGates(draw);
      const shared = new AbortController().signal;
      expect(await runCalls(gates, draw, shared)).toBe(CALLS);
      gates.sweep();
      const { conservation } = gates.snapshot();
      expect(conservation).toMatchObject({ ok: true, held: 0 });
      expect(getEventListeners(shared, 'abort')).toHaveLength(0);
      expect(gates.time.pendingTimers).toBe(0);
      const { arena } = gates;
      for (let place = 0; place < THREADS; place += 1) {
        const active = arena.layout.thread(place).header + THREAD.ACTIVE;
        expect(arena.f64[active >>> 3]).toBe(0);
      }
      await expectNoWedge(gates);
    }),
    { numRuns: 60 },
  );
});

/** Once the downstream is well again, so are its circuits: cooldowns and probes end by themselves. */
async function expectNoWedge(gates: VirtualGates): Promise<void> {
  gates.configure({ breaker: { enabled: true }, host: { enabled: false } });
  const gate = gates.gate();
  for (const address of PEERS) {
    const call = gate.call({ rpc: 'free', address }, () => 'well');
    expect(await call).toBe('well');
    expect(gate.breaker(address).state().state).toBe('closed');
  }
}
