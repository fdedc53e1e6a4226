import { describe, expect, it } from 'vitest';
import { runProcess } from './test-process.js';

// In processes of their own, where a rejection that nobody handles is the end.
const CLEAN = { code: 0, signal: null, stderr: '' };

describe('in a process that no unhandled rejection survives', () => {
  it('each bad argument of each verb is an error of its own, and takes nothing', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const runtime = await spillway.createRuntime({
        host: { rpcs: { a: { qpsPerCore: 0.001, burst: 5 } } },
        tables: { enabled: true, rpcs: ['a'] },
      });
      const { gate } = runtime;
      const limiter = gate.limiter('a');
      const ok = (): number => 1;
      const names = async (
        values: readonly unknown[],
        use: (value: never) => unknown,
      ): Promise<string> => {
        const seen: string[] = [];
        for (const value of values) {
          try {
            await use(value as never);
            seen.push(`no error for ${String(value)}`);
          } catch (error) {
            seen.push((error as Error).name);
          }
        }
        return seen.join(' ');
      };
      const counts = [
        Number.NaN,
        Number.POSITIVE_INFINITY,
        -1,
        0,
        1.5,
        6,
        1e13,
        '1',
        null,
        {},
        true,
        1n,
      ];
      const waits = [Number.NaN, -1, Number.POSITIVE_INFINITY, 1e12, '5', null, {}];
      const rpcs = ['', 'nope', '__proto__', 'constructor', 5, null, {}, Symbol('a')];
      const tables = [Number.NaN, 1.5, 2 ** 53, '', {}, true, Symbol('a')];
      const signals = ['x', {}, 5, true];
      say({
        tryAcquire: await names(counts, (n) => gate.tryAcquire('a', n)),
        limiter: await names(counts, (n) => limiter.tryAcquire(n)),
        acquire: await names(counts, (n) => gate.acquire('a', { n })),
        weight: await names(counts, (weight) => gate.call({ rpc: 'a', weight }, ok)),
        reserve: await names(
          counts.filter((n) => n !== 6),
          (n) => gate.reserve('a', n),
        ),
        maxWait: await names(waits, (maxWaitMs) => gate.acquire('a', { maxWaitMs })),
        callWait: await names(waits, (maxWaitMs) => gate.call({ rpc: 'a', maxWaitMs }, ok)),
        signal: await names(signals, (signal) => gate.acquire('a', { signal })),
        callSignal: await names(signals, (signal) => gate.call({ rpc: 'a', signal }, ok)),
        rpc: await names(rpcs, (rpc) => gate.tryAcquire(rpc)),
        acquireRpc: await names(rpcs, (rpc) => gate.acquire(rpc)),
        callRpc: await names(rpcs, (rpc) => gate.call({ rpc }, ok)),
        table: await names(tables, (table) => gate.call({ rpc: 'a', table }, ok)),
        options: await names([undefined, null, 5, 'a', {}], (options) => gate.call(options, ok)),
        attempt: await names([undefined, null, 5, {}], (attempt) =>
          gate.call({ rpc: 'a' }, attempt),
        ),
        classify: await names([5, {}, 'busy'], (classify) => gate.call({ rpc: 'a', classify }, ok)),
        deadline: await names([Number.NaN, -1, '5'], (deadlineMs) => runtime.close({ deadlineMs })),
      });
      say(runtime.snapshot().conservation.granted);
      say(gate.tryAcquire('a', 5));
      await runtime.close();
    });
    expect(ended.stderr).toBe('');
    const counts = `${'RangeError '.repeat(7)}${'TypeError '.repeat(5)}`.trim();
    const [names, granted, untouched] = ended.said as [Record<string, string>, number, boolean];
    expect(names).toEqual({
      tryAcquire: counts,
      limiter: counts,
      acquire: counts,
      weight: counts,
      reserve: `${'RangeError '.repeat(6)}${'TypeError '.repeat(5)}`.trim(),
      maxWait: 'RangeError RangeError RangeError RangeError TypeError TypeError TypeError',
      callWait: 'RangeError RangeError RangeError RangeError TypeError TypeError TypeError',
      signal: 'TypeError TypeError TypeError TypeError',
      callSignal: 'TypeError TypeError TypeError TypeError',
      rpc: Array(8).fill('UnknownRpcError').join(' '),
      acquireRpc: Array(8).fill('UnknownRpcError').join(' '),
      callRpc: Array(8).fill('UnknownRpcError').join(' '),
      table: 'RangeError RangeError RangeError RangeError TypeError TypeError TypeError',
      options: 'TypeError TypeError TypeError TypeError UnknownRpcError',
      attempt: 'TypeError TypeError TypeError TypeError',
      classify: 'TypeError TypeError TypeError',
      deadline: 'RangeError RangeError RangeError',
    });
    expect([granted, untouched]).toEqual([0, true]);
    expect(ended).toMatchObject(CLEAN);
  });

  it('each bad option of createRuntime is a ConfigError, and starts nothing', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      let workers = 0;
      process.on('worker', () => {
        workers += 1;
      });
      const bad: unknown[] = [
        null,
        5,
        'options',
        [],
        { host: { qpsPerCore: Number.NaN } },
        { host: { qpsPerCore: Number.POSITIVE_INFINITY } },
        { host: { qpsPerCore: -1 } },
        { host: { qpsPerCore: '5' } },
        { host: { rpcs: { a: { burst: 1.5 } } } },
        { host: { rpcs: { a: { clock: 'fast' } } } },
        { host: { rpcs: { '': {} } } },
        { host: { rpcs: { a: null } } },
        { tables: { rpcs: 'a' } },
        { tables: { rpcs: [5] } },
        { tables: { ratio: 1.5 } },
        { capacity: { threads: 0 } },
        { capacity: { pairs: 1e18 } },
        { waiting: { maxWaiters: -1 } },
        { preset: 'none' },
        { configFile: '/nowhere/spillway.conf' },
        { hots: {} },
        JSON.parse('{"__proto__": {"host": 5}}'),
        {
          get host() {
            throw new Error('no');
          },
        },
      ];
      const names: string[] = [];
      for (const options of bad) {
        const error = await spillway
          .createRuntime(options as never)
          .then((runtime) => runtime.close().then(() => ({ name: 'none', options })))
          .catch((reason: unknown) => reason as Error);
        names.push(error.name);
      }
      say([...new Set(names)]);
      say(names.findIndex((name) => name !== 'ConfigError'));
      await new Promise((resolve) => setImmediate(resolve));
      say(workers);
    });
    expect(ended).toMatchObject({ ...CLEAN, said: [['ConfigError'], -1, 0] });
  });

  it('attempts may throw anything and classifiers may fail: the caller is told, the account is right', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const runtime = await spillway.createRuntime({ host: { rpcs: { a: {} } } });
      const { gate } = runtime;
      const told: unknown[] = [];
      const call = (
        attempt: () => unknown,
        classify?: import('../../dist/index.js').Classifier,
      ): Promise<number> =>
        gate.call(classify === undefined ? { rpc: 'a' } : { rpc: 'a', classify }, attempt).then(
          (value) => told.push(value),
          (error: unknown) => told.push(error instanceof Error ? error.message : String(error)),
        );
      await call(() => {
        throw new Error('thrown');
      });
      await call(() => Promise.reject(new Error('rejected')));
      await call(() => Promise.reject(undefined));
      await call(() => {
        throw null;
      });
      await call(
        () => 1,
        () => {
          throw new Error('classifier');
        },
      );
      await call(
        () => {
          throw new Error('attempt');
        },
        () => {
          throw new Error('classifier too');
        },
      );
      const abort = new AbortController();
      const gone = gate.call({ rpc: 'a', signal: abort.signal }, async ({ signal }) => {
        abort.abort(new Error('gone'));
        signal?.throwIfAborted();
      });
      await gone.catch((error: Error) => told.push(error.message));
      say(told);
      const { conservation, rpcs } = runtime.snapshot();
      say([conservation.ok, conservation.held, rpcs[0]?.calls]);
      await runtime.close({ deadlineMs: 20_000 });
    });
    expect(ended.said).toEqual([
      ['thrown', 'rejected', 'undefined', 'null', 'classifier', 'classifier too', 'gone'],
      [true, 0, 7],
    ]);
    expect(ended).toMatchObject(CLEAN);
  });

  it('threads that throw, exit or are terminated in the middle of an attempt or a wait harm nobody', async () => {
    const ended = await runProcess(async ({ spillway, entry, say }) => {
      const { Worker } = process.getBuiltinModule('node:worker_threads');
      const runtime = await spillway.createRuntime({
        host: { rpcs: { slow: { qpsPerCore: 0.001, burst: 1 }, free: { qpsPerCore: 0 } } },
        waiting: { maxWaitMs: 80_000_000 },
      });
      const { gate } = runtime;
      gate.tryAcquire('slow');
      const ways = [
        'gate.call({ rpc: "free" }, () => process.exit(1))',
        'gate.call({ rpc: "free" }, () => { setImmediate(() => { throw new Error("x") }); return new Promise(() => 0) })',
        'gate.acquire("slow"); process.exit(1)',
        'gate.acquire("slow"); setImmediate(() => { throw new Error("x") })',
        'gate.acquireSync("slow")',
        'for (;;) gate.tryAcquire("free")',
        'gate.updateConfig({ waiting: { maxWaiters: 9 } }); process.exit(1)',
      ];
      for (const way of ways) {
        const text = `import(${JSON.stringify(entry)}).then(({ attach }) => {
          const gate = attach();
          require('node:worker_threads').parentPort.postMessage('attached');
          ${way};
        })`;
        const worker = new Worker(text, { eval: true, stderr: true });
        worker.on('error', () => undefined);
        const exited = new Promise((resolve) => worker.once('exit', resolve));
        await Promise.race([exited, new Promise((resolve) => worker.once('message', resolve))]);
        await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 50))]);
        await worker.terminate();
      }
      for (const end = performance.now() + 12_000; runtime.snapshot().threads > 1; ) {
        if (performance.now() > end) break;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const { threads, conservation } = runtime.snapshot();
      say([threads, conservation.ok, conservation.held, conservation.lost]);
      say(await gate.call({ rpc: 'free' }, () => 'through'));
      await runtime.close({ deadlineMs: 20_000 });
    });
    expect(ended.said).toEqual([[1, true, 0, 3], 'through']);
    expect(ended).toMatchObject(CLEAN);
  });

  it('a full directory counts what it could not track, and lets every call through', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const runtime = await spillway.createRuntime({
        host: { rpcs: { a: { qpsPerCore: 0 } } },
        tables: { enabled: true, rpcs: ['a'] },
        capacity: { pairs: 64 },
      });
      let through = 0;
      for (let table = 0; table < 200; table++)
        through += await runtime.gate.call({ rpc: 'a', table }, () => 1);
      const { used, capacity, overflow } = runtime.snapshot().directory;
      say([through, used, capacity, overflow]);
      await runtime.close();
    });
    expect(ended).toMatchObject({ ...CLEAN, said: [[200, 64, 64, 136]] });
  });

  it('whatever is under way when the runtime closes ends, one way or the other', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const runtime = await spillway.createRuntime({
        host: { rpcs: { slow: { qpsPerCore: 0.001, burst: 1 }, free: { qpsPerCore: 0 } } },
        waiting: { maxWaitMs: 80_000_000 },
      });
      const { gate } = runtime;
      const admin = spillway.connectAdmin(runtime.adminPort());
      await admin.config();
      gate.tryAcquire('slow');
      const under: Promise<unknown>[] = [];
      for (let i = 0; i < 50; i++) {
        under.push(gate.acquire('slow'));
        under.push(gate.call({ rpc: 'slow' }, () => 1));
        under.push(gate.call({ rpc: 'free' }, () => 1));
        under.push(gate.updateConfig({ waiting: { maxWaiters: 100 + i } }));
        under.push(admin.updateConfig({ waiting: { maxWaiters: 100 + i } }));
        under.push(admin.snapshot());
      }
      const closing = runtime.close({ deadlineMs: 10 });
      under.push(gate.acquire('slow'), runtime.updateConfig({}), admin.reloadConfig());
      const ends = await Promise.allSettled(under);
      const reasons = ends.map((end) => (end.status === 'fulfilled' ? 'ok' : end.reason.name));
      say([...new Set(reasons)].sort());
      await closing;
      await admin.updateConfig({}).catch((error: Error) => say(error.name));
      await admin.snapshot().catch((error: Error) => say(error.name));
      const other = spillway.connectAdmin(new MessageChannel().port1 as never);
      const unanswered = other.config().catch((error: Error) => say(error.name));
      other.close();
      await unanswered;
      await other
        .updateConfig({ host: { dryRun: (() => true) as never } })
        .catch((error: import('../../dist/index.js').ConfigError) => say(error.field));
    });
    expect(ended.said).toEqual([
      ['RuntimeClosedError', 'ok'],
      'RuntimeClosedError',
      'RuntimeClosedError',
      'RuntimeClosedError',
      'host.dryRun',
    ]);
    expect(ended).toMatchObject(CLEAN);
  });

  it('signals keep no listener of a call that has ended, in whatever way', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const { getEventListeners } = process.getBuiltinModule('node:events');
      const runtime = await spillway.createRuntime({
        host: { rpcs: { slow: { qpsPerCore: 0.001, burst: 3 }, free: { qpsPerCore: 0 } } },
      });
      const { gate } = runtime;
      const { signal } = new AbortController();
      const listeners = (): number => getEventListeners(signal, 'abort').length;
      const seen: number[] = [];
      await gate.acquire('slow', { signal });
      await gate.call({ rpc: 'free', signal }, () => 1);
      seen.push(listeners());
      await gate
        .call({ rpc: 'free', signal }, () => Promise.reject(new Error('no')))
        .catch(() => 1);
      await gate.acquire('slow', { signal, n: 3, maxWaitMs: 0 }).catch(() => 1);
      seen.push(listeners());
      const many = Array.from({ length: 1000 }, () => gate.call({ rpc: 'free', signal }, () => 1));
      await Promise.all(many);
      seen.push(listeners());
      gate.tryAcquire('slow', 2);
      const waits = Promise.allSettled(
        Array.from({ length: 20 }, () => gate.acquire('slow', { signal, maxWaitMs: 80_000_000 })),
      );
      say(listeners() <= 1);
      await runtime.close({ deadlineMs: 0 });
      say((await waits).filter(({ status }) => status === 'rejected').length);
      seen.push(listeners());
      say(seen);
    });
    expect(ended).toMatchObject({ ...CLEAN, said: [true, 20, [0, 0, 0, 0]] });
  });
});
