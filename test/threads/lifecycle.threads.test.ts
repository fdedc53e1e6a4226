import { Piscina } from 'piscina';
import { afterEach, describe, expect, it } from 'vitest';
import {
  attach,
  createRuntime,
  HandleVersionError,
  IllegalStateError,
  NoRuntimeError,
  type Runtime,
  RuntimeClosedError,
  type RuntimeHandle,
  type RuntimeOptions,
  TooManyThreadsError,
} from '../../dist/index.js';
import { ControlThreads } from './control-threads.js';
import { startThread } from './test-thread.js';
import { pause, until } from './until.js';

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close({ deadlineMs: 0 })));
});

async function start(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({
    host: { rpcs: { slow: { qpsPerCore: 0.01, burst: 1 }, free: { qpsPerCore: 0 } } },
    waiting: { maxWaitMs: 3_600_000 },
    ...options,
  });
  runtimes.push(runtime);
  return runtime;
}

/** Waits in a thread of its own behind a taken permit; tells what became of it. */
function waitElsewhere(runtime: Runtime) {
  return startThread<{ name: string; isOurs: boolean }>(
    runtime.handle(),
    async ({ spillway, handle, say }) => {
      const gate = spillway.attach(handle);
      gate.tryAcquire('slow');
      const wait = gate.acquire('slow');
      wait.catch(() => undefined);
      say('waiting');
      try {
        await wait;
        return { name: 'none', isOurs: true };
      } catch (error) {
        const isOurs = error instanceof spillway.RuntimeClosedError;
        return { name: (error as Error).name, isOurs };
      }
    },
  );
}

const CLOSED = { name: 'RuntimeClosedError', isOurs: true };

describe('close', () => {
  it('may be called again and again; nothing works afterwards, but the totals can be read', async () => {
    const runtime = await start();
    const { gate } = runtime;
    const events: string[] = [];
    runtime.on('closed', () => events.push('closed'));
    expect(gate.tryAcquire('free')).toBe(true);
    await Promise.all([runtime.close(), runtime.close(), runtime.close({ deadlineMs: 0 })]);
    await runtime.close();

    await until('it is told', () => events.length > 0);
    expect(events).toEqual(['closed']);
    expect(() => runtime.gate).toThrow(RuntimeClosedError);
    expect(() => runtime.adminPort()).toThrow(RuntimeClosedError);
    expect(() => gate.tryAcquire('free')).toThrow(RuntimeClosedError);
    expect(() => gate.tryAcquire('slow')).toThrow(RuntimeClosedError);
    expect(() => gate.reserve('slow')).toThrow(RuntimeClosedError);
    expect(() => attach(runtime.handle())).toThrow(RuntimeClosedError);
    await expect(gate.acquire('slow')).rejects.toThrow(RuntimeClosedError);
    await expect(gate.call({ rpc: 'free' }, () => 1)).rejects.toThrow(RuntimeClosedError);
    await expect(runtime.updateConfig({})).rejects.toThrow(RuntimeClosedError);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it('lets attempts and waits under way finish, in every thread, and takes no new ones', async () => {
    const runtime = await start({ host: { rpcs: { slow: { qpsPerCore: 5, burst: 1 } } } });
    const thread = startThread<string>(
      runtime.handle(),
      async ({ spillway, handle, say, told }) => {
        const gate = spillway.attach(handle);
        await gate.acquire('slow');
        const wait = gate.acquire('slow');
        const attempt = gate.call({ rpc: 'slow' }, async () => {
          say('under way');
          await told();
          return 'finished';
        });
        await wait;
        return attempt;
      },
    );
    expect(await thread.heard()).toBe('under way');
    const order: string[] = [];
    const closing = runtime.close({ deadlineMs: 20_000 }).then(() => order.push('closed'));
    expect(() => runtime.gate).toThrow(RuntimeClosedError);
    await pause(50);
    order.push('told');
    thread.tell('finish');
    expect(await thread.done).toBe('finished');
    await closing;
    expect(order).toEqual(['told', 'closed']);
  });

  it('rejects who still waits at the deadline, in every thread', async () => {
    const runtime = await start();
    const thread = waitElsewhere(runtime);
    await thread.heard();
    const mine = runtime.gate.acquire('slow');
    const rejected = expect(mine).rejects.toThrow(RuntimeClosedError);
    const before = performance.now();
    await runtime.close({ deadlineMs: 100 });
    expect(performance.now() - before).toBeGreaterThan(95);
    await rejected;
    expect(await thread.done).toEqual(CLOSED);
    expect(await thread.ended).toBe(0);
  });

  it('rejects who waits in another thread also while there is no control thread', async () => {
    const controls = new ControlThreads();
    const runtime = await start();
    const thread = waitElsewhere(runtime);
    await thread.heard();
    await until('it is watched', () => runtime.snapshot().threads === 1);
    await controls.kill(runtime);
    await runtime.close({ deadlineMs: 0 });
    controls.stop();
    expect(await thread.done).toEqual(CLOSED);
    expect(await thread.ended).toBe(0);
  });

  it('rejects who waits in a thread that has attached just now', async () => {
    const runtime = await start();
    const thread = waitElsewhere(runtime);
    await thread.heard();
    await runtime.close({ deadlineMs: 0 });
    expect(await thread.done).toEqual(CLOSED);
  });
});

describe('attach', () => {
  it('without a runtime is an error that says what to do', async () => {
    expect(() => attach()).toThrow(NoRuntimeError);
    const thread = startThread<string>(undefined, ({ spillway }) => {
      try {
        spillway.attach();
        return 'attached';
      } catch (error) {
        return `${error instanceof spillway.NoRuntimeError} ${(error as Error).message}`;
      }
    });
    expect(await thread.done).toMatch(/^true .*createRuntime\(\) before this thread is started/);
  });

  it('refuses a handle of another version, and what is no handle', async () => {
    const handle = (await start()).handle();
    const bad: unknown[] = [{ ...handle, version: 'spillway/0' }, {}, { version: 1 }, 'handle', 7];
    for (const value of bad)
      expect(() => attach(value as RuntimeHandle), String(value)).toThrow(HandleVersionError);
    expect(() => attach({ ...handle, version: 'spillway/0' })).toThrow(/spillway\/0/);
  });

  it('finds the runtime through the environment data, in threads started later and in theirs', async () => {
    const runtime = await start({ host: { rpcs: { few: { qpsPerCore: 0.001, burst: 3 } } } });
    const parent = startThread<string>(undefined, async ({ spillway }) => {
      const { Worker, workerData } = process.getBuiltinModule('node:worker_threads');
      const taken = spillway.attach().tryAcquire('few');
      const text = `
        const { workerData, parentPort } = require('node:worker_threads');
        import(workerData).then(({ attach }) => parentPort.postMessage(attach().tryAcquire('few', 2)));`;
      const nested = new Worker(text, { eval: true, workerData: workerData.entry });
      const theirs = await new Promise((resolve) => nested.once('message', resolve));
      return `${taken} ${theirs}`;
    });
    expect(await parent.done).toBe('true true');
    expect(runtime.gate.tryAcquire('few')).toBe(false);
  });

  it('gives the same gate each time; after detach a new one, and the old one takes nothing', async () => {
    const runtime = await start();
    const { gate } = runtime;
    expect(attach()).toBe(gate);
    expect(attach(runtime.handle())).toBe(gate);
    gate.tryAcquire('slow');
    const wait = expect(gate.acquire('slow')).rejects.toThrow(/detached/);
    gate.detach();
    gate.detach();
    await wait;
    expect(() => gate.tryAcquire('free')).toThrow(RuntimeClosedError);
    await until('the place is free', () => runtime.snapshot().threads === 0);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
    const again = runtime.gate;
    expect(again).not.toBe(gate);
    expect(again.tryAcquire('free')).toBe(true);
    expect(runtime.snapshot().threads).toBe(1);
  });

  it('may be done and undone hundreds of times, and leaves nothing behind', async () => {
    const runtime = await start({ capacity: { threads: 8 } });
    const handle = runtime.handle();
    attach(handle).detach();
    const before = process.listenerCount('workerMessage');
    for (let i = 1; i <= 300; i++) {
      const gate = attach(handle);
      expect(gate.tryAcquire('free')).toBe(true);
      gate.detach();
      if (i % 5 === 0) await until('places are free', () => runtime.snapshot().threads < 3);
    }
    await until('all places are free', () => runtime.snapshot().threads === 0);
    expect(process.listenerCount('workerMessage')).toBe(before);
    expect(process.getActiveResourcesInfo().filter((name) => name === 'MessagePort')).toEqual([]);
    expect((await runtime.updateConfig({ host: { dryRun: true } })).version).toBe(2);
  });

  it('accounts for what a call had taken so far when its thread detaches', async () => {
    const runtime = await start({
      host: { rpcs: { write: { qpsPerCore: 0.01, burst: 1 } } },
      tables: { enabled: true, rpcs: ['write'], upgradeIntervalMs: 1, downgradeIntervalMs: 60_000 },
    });
    const { gate } = runtime;
    for (let i = 0; runtime.snapshot().level === 0; i++) {
      if (i === 1000) throw new Error('no table is ever slowed');
      await Promise.allSettled(
        [1, 2, 3].map(() => gate.call({ rpc: 'write', table: 1, maxWaitMs: 0 }, () => undefined)),
      );
      await pause(10);
      await gate.updateConfig({ host: { dryRun: true } });
      await gate.call({ rpc: 'write', table: 1, classify: () => 'busy' }, () => undefined);
      await gate.updateConfig({ host: { dryRun: false } });
    }
    while (gate.tryAcquire('write'));
    // It has a slot of the table, and waits for the host.
    const held = gate.call({ rpc: 'write', table: 1, maxWaitMs: 600_000 }, () => undefined);
    const rejected = expect(held).rejects.toThrow(RuntimeClosedError);
    await until('it waits for the host', () => gate.limiter('write').waiting === 1);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 2 });
    gate.detach();
    await rejected;
    await until('the place is free', () => runtime.snapshot().threads === 0);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it('refuses more threads than there are places, until one has left', async () => {
    const runtime = await start({ capacity: { threads: 2 } });
    const { gate } = runtime;
    const one = startThread<void>(runtime.handle(), async ({ spillway, handle, say, told }) => {
      spillway.attach(handle);
      say('attached');
      await told();
    });
    await one.heard();
    const tooMany = startThread<string>(runtime.handle(), ({ spillway, handle }) => {
      try {
        spillway.attach(handle);
        return 'attached';
      } catch (error) {
        return `${error instanceof spillway.TooManyThreadsError} ${(error as Error).message}`;
      }
    });
    expect(await tooMany.done).toBe(
      'true capacity.threads must be above the 2 threads that are attached',
    );
    expect(gate.tryAcquire('free')).toBe(true);
    one.tell('leave');
    await one.ended;
    await until('its place is free', () => runtime.snapshot().threads === 1);
    const last = startThread<boolean>(runtime.handle(), ({ spillway, handle }) =>
      spillway.attach(handle).tryAcquire('free'),
    );
    expect(await last.done).toBe(true);
    expect(TooManyThreadsError).toBeTypeOf('function');
  });

  it('works in piscina workers, whose places are free again when the pool is gone', async () => {
    const runtime = await start({ host: { rpcs: { few: { qpsPerCore: 0.001, burst: 10 } } } });
    const pool = new Piscina({
      filename: new URL('./pool-worker.mjs', import.meta.url).href,
      minThreads: 2,
      maxThreads: 2,
    });
    const tasks = Array.from({ length: 20 }, () => pool.run({ rpc: 'few' }, { name: 'take' }));
    const taken = (await Promise.all(tasks)) as boolean[];
    expect(taken.filter(Boolean).length).toBe(10);
    expect(runtime.snapshot().threads).toBeGreaterThan(0);
    await pool.destroy();
    await until('their places are free', () => runtime.snapshot().threads === 0);
  });
});

describe('two runtimes in one process', () => {
  it('limit apart from each other; the younger is found without a handle, and once it is closed the other', async () => {
    const few = { qpsPerCore: 0.001, burst: 1 };
    const older = await start({ host: { rpcs: { older: few } } });
    const younger = await start({ host: { rpcs: { younger: few } } });
    expect(attach()).toBe(younger.gate);
    expect(older.gate).not.toBe(younger.gate);
    expect(older.gate.tryAcquire('older')).toBe(true);
    expect(younger.gate.tryAcquire('younger')).toBe(true);
    expect(() => older.gate.tryAcquire('younger')).toThrow(/must be one of older/);
    await younger.close();
    expect(attach()).toBe(older.gate);
    const elsewhere = startThread<boolean>(undefined, async ({ spillway }) =>
      spillway.attach().tryAcquire('older'),
    );
    expect(await elsewhere.done).toBe(false);
    expect(older.gate.tryAcquire('older')).toBe(false);
    expect((await older.updateConfig({ host: { dryRun: true } })).version).toBe(2);
    expect(older.gate.tryAcquire('older')).toBe(true);
    await older.close();
    expect(() => attach()).toThrow(NoRuntimeError);
  });

  it('may be closed in any order: the last that is open is found without a handle', async () => {
    const [first, second, third] = [await start(), await start(), await start()];
    await second.close();
    expect(attach()).toBe(third.gate);
    await third.close();
    expect(attach()).toBe(first.gate);
  });
});

describe('a runtime that was created in a worker thread', () => {
  it('serves others, who are told when that thread dies', async () => {
    const owner = startThread<void>(undefined, async ({ spillway, say }) => {
      const runtime = await spillway.createRuntime({
        host: { rpcs: { slow: { qpsPerCore: 0.01, burst: 1 } } },
        waiting: { maxWaitMs: 3_600_000 },
      });
      say(runtime.handle());
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    });
    const handle = (await owner.heard()) as RuntimeHandle;
    const gate = attach(handle);
    expect(gate.tryAcquire('slow')).toBe(true);
    expect((await gate.updateConfig({ waiting: { maxWaiters: 7 } })).version).toBe(2);
    const mine = expect(gate.acquire('slow')).rejects.toThrow(RuntimeClosedError);
    const orphan = waitElsewhere({ handle: () => handle } as Runtime);
    await orphan.heard();
    await owner.worker.terminate();
    await mine;
    expect(await orphan.done).toEqual(CLOSED);
    expect(() => gate.tryAcquire('slow')).toThrow(RuntimeClosedError);
    expect(() => attach(handle)).toThrow(RuntimeClosedError);
  });
});

describe('acquireSync', () => {
  it('is refused on the main thread', async () => {
    const { gate } = await start();
    expect(() => gate.acquireSync('slow')).toThrow(IllegalStateError);
    expect(() => gate.acquireSync('free')).toThrow(IllegalStateError);
  });

  it('is refused while waiters of the same thread are queued', async () => {
    const runtime = await start();
    const thread = startThread<string>(runtime.handle(), ({ spillway, handle }) => {
      const gate = spillway.attach(handle);
      gate.tryAcquire('slow');
      const abort = new AbortController();
      gate.acquire('slow', { signal: abort.signal }).catch(() => undefined);
      const attempt = (): string => {
        try {
          return `waited ${gate.acquireSync('slow', { maxWaitMs: 0 }).waitedMs}`;
        } catch (error) {
          return (error as Error).name;
        }
      };
      const refused = attempt();
      abort.abort();
      return `${refused}, then ${attempt()}`;
    });
    expect(await thread.done).toBe('IllegalStateError, then RateLimitExceededError');
  });

  /** A thread that blocks itself for a permit which is an hour away. */
  async function blocked(runtime: Runtime) {
    const words = new Int32Array(new SharedArrayBuffer(4));
    const thread = startThread<string, Int32Array>(
      runtime.handle(),
      ({ spillway, handle, data }) => {
        const gate = spillway.attach(handle);
        gate.tryAcquire('slow');
        Atomics.store(data, 0, 1);
        try {
          const { waitedMs } = gate.acquireSync('slow');
          return waitedMs < 40_000 ? 'granted' : 'granted too late';
        } catch (error) {
          return (error as Error).name;
        }
      },
      words,
    );
    await until('it blocks', () => Atomics.load(words, 0) === 1);
    await until('it holds a reservation', () => runtime.snapshot().conservation.held === 1);
    return thread;
  }

  it('holds its reservation for all to see, and breaks no account', async () => {
    const runtime = await start();
    const thread = await blocked(runtime);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 1 });
    await thread.worker.terminate();
    await until('it is swept', () => runtime.snapshot().threads === 0);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0, lost: 1 });
  });

  it.each([
    ['a faster rate', { host: { rpcs: { slow: { qpsPerCore: 1000, burst: 1 } } } }],
    ['a dry run', { host: { dryRun: true } }],
    ['the switch', { host: { enabled: false } }],
    ['the end of the limit', { host: { rpcs: { slow: { qpsPerCore: 0 } } } }],
  ])('is woken by %s', async (_name, patch) => {
    const runtime = await start();
    const thread = await blocked(runtime);
    await runtime.updateConfig(patch);
    expect(await thread.done).toBe('granted');
    await until('it has left', () => runtime.snapshot().threads === 1);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it('is woken by close, at once, whatever the deadline', async () => {
    const runtime = await start();
    const thread = await blocked(runtime);
    const before = performance.now();
    await runtime.close({ deadlineMs: 40_000 });
    expect(performance.now() - before).toBeLessThan(20_000);
    expect(await thread.done).toBe('RuntimeClosedError');
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });
});

describe('the accounts', () => {
  it('balance whenever they are read, while threads acquire at full speed', async () => {
    const runtime = await start({
      host: { rpcs: { fast: { qpsPerCore: 1_000_000, burst: 1000 } } },
    });
    const threads = Array.from({ length: 2 }, () =>
      startThread<number>(runtime.handle(), async ({ spillway, handle, told }) => {
        const gate = spillway.attach(handle);
        let stop = false;
        void told().then(() => {
          stop = true;
        });
        let granted = 0;
        while (!stop) {
          const many = Array.from({ length: 300 }, () => gate.acquire('fast'));
          granted += (await Promise.all(many)).length;
          await new Promise((resolve) => setImmediate(resolve));
        }
        return granted;
      }),
    );
    await until('they are at it', () => runtime.snapshot().conservation.granted > 1000);
    for (let i = 0; i < 300; i++) {
      const { conservation } = runtime.snapshot();
      expect(conservation.ok, JSON.stringify(conservation)).toBe(true);
      if (i % 10 === 0) await pause(1);
    }
    for (const thread of threads) thread.tell('stop');
    const granted = await Promise.all(threads.map(({ done }) => done));
    expect(runtime.snapshot().conservation).toMatchObject({
      ok: true,
      held: 0,
      spent: granted.reduce((sum, n) => sum + n),
    });
  });
});
