import { Registry } from 'prom-client';
import { afterEach, expect, it } from 'vitest';
import { createPrometheusMetrics } from '../../dist/adapters/prometheus.js';
import { createRuntime, type Runtime } from '../../dist/index.js';
import { startThread } from '../threads/test-thread.js';
import { until } from '../threads/until.js';

let runtime: Runtime;
afterEach(() => runtime.close({ deadlineMs: 0 }));

it('keeps what a thread counted before it was terminated, and never counts down', async () => {
  runtime = await createRuntime({
    host: { rpcs: { write: { qpsPerCore: 1000 } } },
    tables: { enabled: true, rpcs: ['write'] },
  });
  const register = new Registry();
  createPrometheusMetrics(runtime, { register });
  const scrape = async () => {
    const text = await register.metrics();
    const value = (name: string) =>
      Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
    return {
      calls: value('spillway_calls_total'),
      busy: value('spillway_busy_total'),
      granted: value('spillway_permits_granted_total'),
      threads: value('spillway_threads'),
      ok: value('spillway_conservation_ok'),
    };
  };
  expect(await scrape()).toEqual({ calls: 0, busy: 0, granted: 0, threads: 0, ok: 1 });

  const threads = [1, 2].map(() =>
    startThread(runtime.handle(), async ({ spillway, handle, say }) => {
      const gate = spillway.attach(handle);
      for (let i = 0; i < 10; i += 1) {
        const call = { rpc: 'write', table: i % 3 };
        const attempt = () => (i < 4 ? Promise.reject(new spillway.BusyError('busy')) : i);
        await gate.call(call, attempt).catch(() => undefined);
      }
      say('counted');
      // Until it is terminated.
      setInterval(() => undefined, 1000);
      await new Promise(() => undefined);
    }),
  );
  await Promise.all(threads.map((thread) => thread.heard()));
  const alive = await scrape();
  expect(alive).toEqual({ calls: 20, busy: 8, granted: 20, threads: 2, ok: 1 });
  await Promise.all(threads.map(({ worker }) => worker.terminate()));
  await until('the dead are noticed', () => runtime.snapshot().threads === 0);
  expect(await scrape()).toEqual({ ...alive, threads: 0 });

  const heir = startThread(runtime.handle(), ({ spillway, handle }) => {
    const gate = spillway.attach(handle);
    gate.tryAcquire('write');
  });
  await heir.ended;
  expect(await scrape()).toMatchObject({ calls: 20, busy: 8, granted: 21 });
});

it('shows counters that never go down or away, and no waiters of the dead, while threads are killed', async () => {
  runtime = await createRuntime({
    host: { rpcs: { write: { qpsPerCore: 1e5 }, slow: { qpsPerCore: 0.01, burst: 1 } } },
    tables: { enabled: true, rpcs: ['write'], upgradeIntervalMs: 50, downgradeIntervalMs: 50 },
    waiting: { maxWaitMs: 3_600_000 },
    breaker: { failureThreshold: 2, cooldownMs: 20 },
  });
  const register = new Registry();
  createPrometheusMetrics(runtime, { register });
  /** Totals, and the parts of histograms, by name and labels. */
  const totals = async (): Promise<Map<string, number>> => {
    const text = await register.metrics();
    const types = new Map(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]),
    );
    const samples = [...text.matchAll(/^([a-z_0-9]+)(\{.*\})? (\S+)$/gm)];
    const grows = (name: string): boolean => types.get(name) === 'counter' || !types.has(name);
    return new Map(
      samples
        .filter(([, name = '']) => grows(name))
        .map(([, name, labels = '', value]) => [name + labels, Number(value)]),
    );
  };
  const start = () =>
    startThread(runtime.handle(), async ({ spillway, handle, say }) => {
      const gate = spillway.attach(handle);
      for (let n = 0; n < 5; n += 1) gate.acquire('slow').catch(() => undefined);
      let said = false;
      for (let n = 0; ; n += 1) {
        const kind = n % 4;
        const call = {
          rpc: 'write',
          table: n % 7,
          address: `peer:${1 + (n % 3)}`,
          retry: { maxAttempts: 2 },
        };
        const attempt = async () => {
          if (kind === 0 && n % 50 === 0) throw new spillway.BusyError('busy');
          if (kind === 1) throw new Error('broken');
          return n;
        };
        await gate.call({ ...call, maxWaitMs: 20 }, attempt).catch(() => undefined);
        if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
        if (n >= 100 && !said) {
          said = true;
          say('busy');
        }
      }
    });

  let before = await totals();
  const compare = async (): Promise<void> => {
    const now = await totals();
    const worse = [...before].filter(([name, value]) => !((now.get(name) ?? -1) >= value));
    expect(worse.map(([name, value]) => ({ name, value, now: now.get(name) }))).toEqual([]);
    before = now;
  };
  let threads = [start(), start(), start()];
  for (let kill = 0; kill < 12; kill += 1) {
    const [victim, ...others] = threads;
    await victim?.heard();
    await compare();
    const terminated = victim?.worker.terminate();
    await compare();
    await terminated;
    await compare();
    threads = [...others, start()];
  }
  await Promise.all(threads.map((thread) => thread.heard()));
  const waiting = () => runtime.snapshot().rpcs.find(({ rpc }) => rpc === 'slow')?.waiting.host;
  await until('the dead wait no longer', () => runtime.snapshot().threads === 3);
  // One permit is there at the beginning, and one every 100 s and core.
  expect(waiting()).toBeGreaterThan(10);
  expect(waiting()).toBeLessThanOrEqual(15);
  await Promise.all(threads.map(({ worker }) => worker.terminate()));
  await until('nobody is left', () => runtime.snapshot().threads === 0);
  await compare();
  expect(waiting()).toBe(0);
  expect(before.get('spillway_calls_total{rpc="write"}')).toBeGreaterThan(100);
});
