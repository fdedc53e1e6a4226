import { describe, expect, it } from 'vitest';
import { runProcess } from './test-process.js';

/** It ended by itself, without an error, and nothing kept it for longer than a machine that stalls. */
const BY_ITSELF = { code: 0, signal: null, stderr: '' };
const PROMPTLY_MS = 5000;

describe('a process ends by itself', () => {
  it('after it has closed its runtime, of which no handle is left', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const resources = (): string[] =>
        process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY|Req/.test(name));
      const before = resources();
      const runtime = await spillway.createRuntime({
        host: { rpcs: { a: { qpsPerCore: 100, clock: 'coarse' } } },
        tables: { enabled: true, rpcs: ['a'] },
      });
      const { gate } = runtime;
      const admin = spillway.connectAdmin(runtime.adminPort());
      await admin.updateConfig({ waiting: { maxWaiters: 5 } });
      await gate.acquire('a');
      await gate.call({ rpc: 'a', table: 1, classify: () => 'busy' }, () => 1);
      await runtime.close();
      await new Promise((resolve) => setTimeout(resolve, 20));
      say([...before, ...resources()]);
      say(process.listenerCount('workerMessage'));
    });
    expect(ended).toMatchObject({ ...BY_ITSELF, said: [[], 0] });
    expect(ended.lingeredMs).toBeLessThan(PROMPTLY_MS);
  });

  it('also when it never closes it, whatever is armed', async () => {
    const ended = await runProcess(async ({ spillway, entry, say }) => {
      const { Worker } = process.getBuiltinModule('node:worker_threads');
      const runtime = await spillway.createRuntime({
        host: { rpcs: { a: { qpsPerCore: 1000 }, b: { qpsPerCore: 10, clock: 'coarse' } } },
        tables: { enabled: true, rpcs: ['a'], upgradeIntervalMs: 10 },
      });
      const { gate } = runtime;
      runtime.on('upgrade', () => undefined);
      spillway.connectAdmin(runtime.adminPort());
      while (runtime.snapshot().level === 0) {
        for (let i = 0; i < 50; i++)
          await gate.call({ rpc: 'a', table: 1, classify: () => 'busy' }, () => 1).catch(() => 1);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const text = `import(${JSON.stringify(entry)}).then(({ attach }) => {
        attach().tryAcquire('a');
        require('node:worker_threads').parentPort.postMessage('attached');
        setInterval(() => undefined, 1000);
      })`;
      const worker = new Worker(text, { eval: true });
      await new Promise((resolve) => worker.once('message', resolve));
      worker.unref();
      say(runtime.snapshot().limits.length);
    });
    expect(ended).toMatchObject({ ...BY_ITSELF, said: [1] });
    expect(ended.lingeredMs).toBeLessThan(PROMPTLY_MS);
  });

  it('not before its waiters have had their turn and its changes are answered', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const runtime = await spillway.createRuntime({
        host: { rpcs: { a: { qpsPerCore: 2, burst: 1 } } },
      });
      const { gate } = runtime;
      gate.tryAcquire('a');
      // Nobody awaits these.
      gate.acquire('a').then(() => say('granted'));
      gate.updateConfig({ waiting: { maxWaiters: 5 } }).then(({ version }) => say(version));
    });
    expect(ended).toMatchObject(BY_ITSELF);
    expect(ended.said).toEqual([2, 'granted']);
  });

  it('while its control thread is dead', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const workers: import('node:worker_threads').Worker[] = [];
      process.on('worker', (worker) => workers.push(worker));
      const runtime = await spillway.createRuntime({ host: { rpcs: { a: {} } } });
      runtime.gate.tryAcquire('a');
      await workers[0]?.terminate();
      say(runtime.snapshot().threads);
    });
    expect(ended).toMatchObject({ ...BY_ITSELF, said: [1] });
    expect(ended.lingeredMs).toBeLessThan(PROMPTLY_MS);
  });
});
