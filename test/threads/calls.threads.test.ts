import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../dist/index.js';
import { runProcess } from './test-process.js';
import { startThread } from './test-thread.js';
import { until } from './until.js';

let runtime: Runtime | undefined;
afterEach(() => runtime?.close({ deadlineMs: 0 }));

describe('call settings', () => {
  it('are in force in a thread whose loop does not turn', async () => {
    runtime = await createRuntime({ host: { rpcs: { read: { qpsPerCore: 0 } } } });
    const words = new Int32Array(new SharedArrayBuffer(8));
    const thread = startThread(
      runtime.handle(),
      async ({ spillway, handle, data }) => {
        const gate = spillway.attach(handle);
        let attempts = 0;
        const call = (): Promise<unknown> =>
          gate.call({ rpc: 'read' }, () => {
            attempts += 1;
            throw new Error('down');
          });
        await call().catch(() => undefined);
        Atomics.store(data, 0, 1);
        // From here on it hears no message.
        while (Atomics.load(data, 1) === 0);
        const before = attempts;
        const ended = call().catch(() => undefined);
        const atOnce = attempts - before;
        await ended;
        return { first: before, atOnce, second: attempts - before };
      },
      words,
    );
    await until('the thread has attached', () => Atomics.load(words, 0) === 1);
    await runtime.updateConfig({ retry: { maxAttempts: 3, baseDelayMs: 1 } });
    Atomics.store(words, 1, 1);
    expect(await thread.done).toEqual({ first: 1, atOnce: 1, second: 3 });
  });
});

/** Where a call is when its thread is terminated. */
const MOMENTS = ['waiting', 'running', 'backing off', 'probing'] as const;

describe('a thread that dies in the middle of calls', () => {
  it.each(MOMENTS)('%s: takes nothing with it', async (moment) => {
    runtime = await createRuntime({
      host: { rpcs: { slow: { qpsPerCore: 0.5, burst: 1 }, free: { qpsPerCore: 0 } } },
      breaker: { failureThreshold: 1, cooldownMs: 50, probeTimeoutMs: 60_000 },
      retry: { maxAttempts: 2, baseDelayMs: 60_000, maxDelayMs: 60_000 },
    });
    const thread = startThread(
      runtime.handle(),
      async ({ spillway, handle, data, say }) => {
        const gate = spillway.attach(handle);
        const never = (): Promise<never> => new Promise(() => undefined);
        const peer = { rpc: 'free', address: 'peer:80' };
        const swallow = (): undefined => undefined;
        if (data === 'waiting') {
          await gate.call({ rpc: 'slow' }, () => 1);
          for (let i = 0; i < 5; i += 1) gate.call({ rpc: 'slow' }, never).catch(swallow);
        } else if (data === 'running') {
          for (let i = 0; i < 5; i += 1) gate.call(peer, never).catch(swallow);
        } else if (data === 'backing off') {
          gate
            .call({ rpc: 'slow' }, () => {
              throw new Error('down');
            })
            .catch(swallow);
        } else {
          gate.breaker('peer:80').admit().failure();
          await new Promise((resolve) => setTimeout(resolve, 80));
          gate.call(peer, never).catch(swallow);
        }
        await new Promise((resolve) => setImmediate(resolve));
        say(gate.breaker('peer:80').state().state);
        await never();
      },
      moment,
    );
    expect(await thread.heard()).toBe(moment === 'probing' ? 'half_open' : 'closed');
    await thread.worker.terminate();
    await until('it was swept', () => runtime?.snapshot().threads === 0);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
    const { gate } = runtime;
    // The probe went with its thread: the next call is one.
    expect(await gate.call({ rpc: 'free', address: 'peer:80' }, () => 'well')).toBe('well');
    expect(gate.breaker('peer:80').state().state).toBe('closed');
  });
});

describe('a process whose calls leave attempts behind', () => {
  it('ends by itself, without an unhandled rejection', async () => {
    const { code, said, stderr } = await runProcess(async ({ spillway, say }) => {
      const runtime = await spillway.createRuntime({ host: { rpcs: { read: { qpsPerCore: 0 } } } });
      const { gate } = runtime;
      const { signal } = new AbortController();
      const later = (ms: number): Promise<never> =>
        new Promise((_, reject) => setTimeout(() => reject(new Error('late')), ms));
      const codes = new Set<string>();
      const calls = Array.from({ length: 200 }, (_, i) =>
        gate
          .call({ rpc: 'read', signal, attemptTimeoutMs: 10 + (i % 10) }, (context) => {
            if (i % 2 === 0) context.signal?.throwIfAborted();
            return later(400 + (i % 7));
          })
          .catch((error: { code: string }) => codes.add(error.code)),
      );
      await Promise.all(calls);
      await gate
        .readFromPeers(
          { candidates: ['127.0.0.1:1'], connectTimeoutMs: 5 },
          () => later(400),
          () => later(1),
        )
        .catch((error: Error) => say(error.message));
      await new Promise((resolve) => setTimeout(resolve, 600));
      const [rpc] = runtime.snapshot().rpcs;
      say([...codes]);
      say({ late: rpc?.late, timeouts: rpc?.timeouts });
      await runtime.close();
    });
    expect(stderr).toBe('');
    expect(said).toEqual(['late', ['ERR_SPILLWAY_ATTEMPT_TIMEOUT'], { late: 200, timeouts: 200 }]);
    expect(code).toBe(0);
  });
});

describe('one signal', () => {
  it('collects nothing from 20,000 calls', async () => {
    runtime = await createRuntime({ host: { rpcs: { read: { qpsPerCore: 0 } } } });
    const { gate } = runtime;
    const { signal } = new AbortController();
    const options = { rpc: 'read', signal, attemptTimeoutMs: 10_000, address: 'peer:80' };
    for (let i = 0; i < 20_000; i += 100) {
      const calls = Array.from({ length: 100 }, (_, n) =>
        gate.call(options, async (context) => {
          if (context.signal?.aborted !== false) throw new Error('no signal');
          if (n % 10 === 0) throw new Error('down');
        }),
      );
      expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
      await Promise.allSettled(calls);
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });
});
