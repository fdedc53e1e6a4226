import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../dist/index.js';
import { ThreadRegistry } from '../../dist/workers/thread-registry.js';
import { arenaOf, ControlThreads } from './control-threads.js';
import { startThread, type ThreadSide } from './test-thread.js';
import { until } from './until.js';

/** Waiters of each thread; the first of them holds a reservation. */
const WAITERS = 5;

let controls: ControlThreads;
let runtime: Runtime;
let endings: number[];

beforeEach(async () => {
  controls = new ControlThreads();
  runtime = await createRuntime({
    host: {
      rpcs: { slow: { qpsPerCore: 0.01, burst: 1 }, free: { qpsPerCore: 0 } },
    },
    waiting: { maxWaitMs: 3_600_000 },
  });
  endings = [];
  runtime.on('thread-ended', ({ threads }) => endings.push(threads));
});

afterEach(async () => {
  controls.stop();
  await runtime.close({ deadlineMs: 0 });
});

const slow = () => runtime.snapshot().rpcs.find(({ rpc }) => rpc === 'slow')!;

/** Threads that control thread number `generation` watches. */
function watchedBy(generation: number): number {
  const registry = new ThreadRegistry(arenaOf(runtime));
  return registry.attached().filter((index) => registry.watchedBy(index) === generation).length;
}

interface Death {
  readonly way: string;
  readonly waiters: number;
}

/** Queues waiters behind a taken permit, starts an attempt that never ends, says so, and dies as it is told to. */
async function holdAndDie({ spillway, handle, data, say, told }: ThreadSide<Death>): Promise<void> {
  const gate = spillway.attach(handle);
  gate.tryAcquire('slow');
  for (let i = 0; i < data.waiters; i++) gate.acquire('slow').catch(() => undefined);
  gate.call({ rpc: 'free' }, () => new Promise(() => undefined)).catch(() => undefined);
  say(gate.limiter('slow').waiting);
  await told();
  switch (data.way) {
    case 'process.exit':
      process.exit(3);
      break;
    case 'an error that nobody catches':
      setImmediate(() => {
        throw new Error('as expected');
      });
      break;
    case 'a rejection that nobody handles':
      Promise.reject(new Error('as expected'));
      break;
    case 'running out of memory': {
      const hoard: unknown[] = [];
      for (;;) hoard.push(new Array(10_000).fill(hoard.length));
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}

/** Holds a reservation in a thread, and one in a thread that it has started. */
async function holdWithNested({ spillway, handle, say }: ThreadSide<undefined>): Promise<void> {
  const { Worker, workerData } = process.getBuiltinModule('node:worker_threads');
  const own = spillway.attach(handle);
  own.tryAcquire('slow');
  own.acquire('slow').catch(() => undefined);
  const text = `
    const { workerData, parentPort } = require('node:worker_threads');
    import(workerData.entry).then(({ attach }) => {
      const gate = attach(workerData.handle);
      gate.acquire('slow').catch(() => undefined);
      gate.call({ rpc: 'free' }, () => new Promise(() => undefined));
      parentPort.postMessage(gate.limiter('slow').waiting);
    });`;
  const nested = new Worker(text, { eval: true, workerData: { entry: workerData.entry, handle } });
  nested.on('message', say);
  await new Promise(() => undefined);
}

/** The thread is gone, and with it what it held: one reservation, which has lapsed. */
async function expectSwept(lostBefore: number): Promise<void> {
  await until('the place is free', () => runtime.snapshot().threads === 0);
  await until('the owner is told', () => endings.length > 0);
  expect(endings).toEqual([0]);
  expect(slow().lost - lostBefore).toBe(1);
  expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  // Nothing is under way any more, so that there is nothing to wait for.
  const before = performance.now();
  await runtime.close({ deadlineMs: 20_000 });
  expect(performance.now() - before).toBeLessThan(5000);
}

describe('a thread with a queue of waiters and an attempt under way', () => {
  it.each([
    'terminate()',
    'process.exit',
    'an error that nobody catches',
    'a rejection that nobody handles',
    'running out of memory',
  ])('is swept when it ends by %s', async (way) => {
    const thread = startThread<void, Death>(
      runtime.handle(),
      holdAndDie,
      { way, waiters: WAITERS },
      { resourceLimits: { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 8 } },
    );
    expect(await thread.heard()).toBe(WAITERS);
    await until('the thread is seen', () => runtime.snapshot().threads === 1);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 1 });
    if (way === 'terminate()') await thread.worker.terminate();
    else thread.tell('die');
    await thread.ended;
    await expectSwept(0);
  });

  it('is swept when it has nothing more to do and ends', async () => {
    const thread = startThread<number>(runtime.handle(), async ({ spillway, handle }) => {
      const gate = spillway.attach(handle);
      gate.tryAcquire('slow');
      gate.call({ rpc: 'free' }, () => new Promise(() => undefined)).catch(() => undefined);
      const waits = Array.from({ length: 5 }, () => gate.acquire('slow'));
      const settled = Promise.allSettled(waits);
      await gate.updateConfig({ host: { rpcs: { slow: { burst: 2, qpsPerCore: 1000 } } } });
      return (await settled).filter(({ status }) => status === 'fulfilled').length;
    });
    expect(await thread.done).toBe(5);
    expect(await thread.ended).toBe(0);
    await until('the place is free', () => runtime.snapshot().threads === 0);
    await until('the owner is told', () => endings.length > 0);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it.each(['at once', 'after the control thread was replaced'])(
    'is swept when it was started by another thread, which is terminated, %s',
    async (when) => {
      const parent = startThread<void>(runtime.handle(), holdWithNested);
      expect(await parent.heard()).toBe(1);
      await until('both hold one', () => runtime.snapshot().conservation.held === 2);
      expect(runtime.snapshot().threads).toBe(2);
      if (when !== 'at once') {
        await controls.kill(runtime);
        await until('both are watched anew', () => watchedBy(2) === 2);
      }
      await parent.worker.terminate();
      await until('both places are free', () => runtime.snapshot().threads === 0);
      expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
      expect(slow().lost).toBe(2);
    },
  );

  it('is swept when it was there before the control thread, which was replaced', async () => {
    const thread = startThread<void, Death>(runtime.handle(), holdAndDie, { way: '', waiters: 1 });
    await thread.heard();
    await controls.kill(runtime);
    await until('it is watched anew', () => watchedBy(2) === 1);
    await thread.worker.terminate();
    await expectSwept(0);
  });

  it('is swept when it dies while there is no control thread', async () => {
    const thread = startThread<void, Death>(runtime.handle(), holdAndDie, { way: '', waiters: 1 });
    await thread.heard();
    await controls.kill(runtime);
    await thread.worker.terminate();
    expect(runtime.snapshot().threads).toBe(1);
    await expectSwept(0);
  });

  it('loses its permits, not those of others: a waiter elsewhere gets its turn', async () => {
    await runtime.updateConfig({ host: { rpcs: { slow: { qpsPerCore: 5, burst: 1 } } } });
    const { gate } = runtime;
    const thread = startThread<void, Death>(runtime.handle(), holdAndDie, { way: '', waiters: 1 });
    await thread.heard();
    const mine = gate.acquire('slow');
    await thread.worker.terminate();
    expect((await mine).waitedMs).toBeGreaterThan(0);
    expect(gate.limiter('slow').waiting).toBe(0);
  });
});
