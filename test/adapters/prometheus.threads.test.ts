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
