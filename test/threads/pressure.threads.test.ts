import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fastifyPressure } from '../../dist/adapters/fastify.js';
import { createRuntime, type Runtime } from '../../dist/index.js';
import { ControlThreads } from './control-threads.js';
import { startThread, type TestThread, type ThreadSide } from './test-thread.js';
import { until } from './until.js';

/** So long that nothing in here ends by waiting. */
const MINUTE = 60_000;

let runtime: Runtime;
beforeEach(async () => {
  runtime = await createRuntime({
    host: { rpcs: { get: { qpsPerCore: 0 } } },
    waiting: { maxWaitMs: MINUTE },
    pressure: { maxThrottleMs: MINUTE },
  });
});
afterEach(() => runtime.close({ deadlineMs: 0 }));

const waiting = (): number => runtime.snapshot().pressureTotals.waiting;
const open = (): readonly string[] => runtime.snapshot().pressure.map(({ bucket }) => bucket);

/** Does what it is told: `report` or `call`, and says what came of it. */
async function obey({ spillway, handle, say, told }: ThreadSide<undefined>): Promise<void> {
  const gate = spillway.attach(handle);
  // Both are known as calm before anything is reported.
  for (const bucket of ['a', 'b']) gate.pressure(bucket).remainingMs();
  say('ready');
  for (;;) {
    const order = (await told()) as { bucket: string; report?: number } | 'end';
    if (order === 'end') return;
    const { bucket, report } = order;
    if (report !== undefined) {
      gate.pressure(bucket).report(report);
      say('reported');
      continue;
    }
    gate.call({ rpc: 'get', bucket }, () => bucket).then(say, (error: Error) => say(error.name));
  }
}

async function started(): Promise<TestThread<void>> {
  const thread = startThread(runtime.handle(), obey);
  expect(await thread.heard()).toBe('ready');
  return thread;
}

describe('a pressure that one thread is told of', () => {
  it('holds back the calls of another at once, and of no other bucket', async () => {
    const [one, other] = [await started(), await started()];
    one.tell({ bucket: 'a', report: 0.9 });
    expect(await one.heard()).toBe('reported');
    expect(open()).toEqual(['a']);
    other.tell({ bucket: 'a' });
    other.tell({ bucket: 'b' });
    expect(await other.heard()).toBe('b');
    await until('the call waits', () => waiting() === 1);
    one.tell({ bucket: 'a', report: 0 });
    expect(await other.heard()).toBe('a');
    expect(waiting()).toBe(0);
    for (const thread of [one, other]) thread.tell('end');
    await Promise.all([one.done, other.done]);
  });

  it('lets go when its window is cut by a change of the configuration', async () => {
    const one = await started();
    runtime.gate.pressure('a').report(1);
    one.tell({ bucket: 'a' });
    await until('the call waits', () => waiting() === 1);
    await runtime.updateConfig({ pressure: { maxThrottleMs: 1 } });
    expect(await one.heard()).toBe('a');
    one.tell('end');
    await one.done;
  });

  it('is rejected with the runtime, whatever is left of it', async () => {
    const one = await started();
    runtime.gate.pressure('a').report(1);
    one.tell({ bucket: 'a' });
    const mine = runtime.gate.call({ rpc: 'get', bucket: 'a' }, () => 1);
    mine.catch(() => undefined);
    await until('both calls wait', () => waiting() === 2);
    await runtime.close({ deadlineMs: 0 });
    await expect(mine).rejects.toMatchObject({ name: 'RuntimeClosedError' });
    expect(await one.heard()).toBe('RuntimeClosedError');
    one.tell('end');
    await one.done;
  });

  it('holds and is lifted as ever after the control thread was killed', async () => {
    const controls = new ControlThreads();
    try {
      await runtime.close();
      runtime = await createRuntime({
        host: { rpcs: { get: { qpsPerCore: 0 } } },
        waiting: { maxWaitMs: MINUTE },
        pressure: { maxThrottleMs: MINUTE },
      });
      const [one, other] = [await started(), await started()];
      controls.ignore(one.worker);
      controls.ignore(other.worker);
      one.tell({ bucket: 'a', report: 1 });
      expect(await one.heard()).toBe('reported');
      other.tell({ bucket: 'a' });
      await until('the call waits', () => waiting() === 1);
      const restarted = new Promise((resolve) => runtime.once('control-restart', resolve));
      await controls.kill(runtime);
      // While there is none.
      one.tell({ bucket: 'a', report: 0 });
      expect(await one.heard()).toBe('reported');
      await restarted;
      expect(await other.heard()).toBe('a');
      one.tell({ bucket: 'b', report: 1 });
      expect(await one.heard()).toBe('reported');
      other.tell({ bucket: 'b' });
      await until('the call waits', () => waiting() === 1);
      one.tell({ bucket: 'b', report: 0 });
      expect(await other.heard()).toBe('b');
      for (const thread of [one, other]) thread.tell('end');
      await Promise.all([one.done, other.done]);
    } finally {
      controls.stop();
    }
  });

  it('takes no memory any more when it is over', async () => {
    const { gate } = runtime;
    for (let i = 0; i < 1000; i += 1) gate.pressure(`bucket-${i}`).report(1);
    expect(runtime.snapshot().directory.used).toBe(1000);
    for (let i = 0; i < 1000; i += 1) gate.pressure(`bucket-${i}`).report(0);
    expect(runtime.snapshot().pressureTotals).toMatchObject({ open: 0, signals: 2000 });
    await until('no cell is in use', () => runtime.snapshot().directory.used === 0, 20_000);
  });
});

describe('threads that are killed anywhere in a report', () => {
  const KILLS = 24;
  const BUCKETS = 4;

  /** Reports and calls as fast as it can, until it is killed. */
  async function rage({ spillway, handle, say, data }: ThreadSide<number>): Promise<void> {
    const gate = spillway.attach(handle);
    for (let n = data; ; n += 1) {
      const bucket = `bucket ${n % 4}`;
      gate.pressure(bucket).report((n % 11) / 10);
      gate.call({ rpc: 'get', bucket, maxWaitMs: 500 }, () => 1).catch(() => undefined);
      if (n === data) say('raging');
      if (n % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('leave no window stuck, lose none that comes later, and are not counted as waiting', async () => {
    await runtime.updateConfig({ pressure: { maxThrottleMs: 2000 } });
    const { gate } = runtime;
    const windows = Array.from({ length: BUCKETS }, (_, n) => gate.pressure(`bucket ${n}`));
    for (let kill = 0; kill < KILLS; kill += 2) {
      const threads = [kill, kill + 1].map((seed) => startThread(runtime.handle(), rage, seed));
      for (const thread of threads) expect(await thread.heard()).toBe('raging');
      for (const window of windows) expect(window.remainingMs()).toBeLessThanOrEqual(2000);
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
      // What they have left is a window or none, and the next report is seen by who knew the bucket as calm.
      for (const window of windows) {
        window.report(1);
        expect(window.remainingMs()).toBeGreaterThan(0);
        expect(window.remainingMs()).toBeLessThanOrEqual(2000);
      }
    }
    await until('no window is open', () => open().length === 0);
    await until('nobody is counted as waiting', () => waiting() === 0, 20_000);
    await until('no cell is in use', () => runtime.snapshot().directory.used === 0, 20_000);
    const answers = windows.map(({ bucket }) => gate.call({ rpc: 'get', bucket }, () => bucket));
    expect(await Promise.all(answers)).toHaveLength(BUCKETS);
  });
});

describe('a server that reports its pressure over HTTP', () => {
  let app: FastifyInstance;
  const pressures: Record<string, number> = {};
  const seen: string[] = [];
  beforeEach(() => {
    app = fastify({ forceCloseConnections: true });
    for (const shard of ['a', 'b']) pressures[shard] = 0;
    seen.length = 0;
  });
  afterEach(() => app.close());

  interface Addresses {
    readonly origin: string;
    readonly undici: string;
    readonly adapter: string;
  }

  /** Asks for the shard that it is told, each request through the gate. */
  async function ask(thread: ThreadSide<Addresses>): Promise<void> {
    const { spillway, handle, data, load, say, told } = thread;
    const { Agent } = (await load(data.undici)) as typeof import('undici');
    const adapter = await load(data.adapter);
    const { createUndiciInterceptor } = adapter as typeof import('../../dist/adapters/undici.js');
    const gate = spillway.attach(handle);
    const agent = new Agent();
    const client = agent.compose(
      createUndiciInterceptor({ gate, rpc: 'get', bucket: ({ path }) => path, retry: false }),
    );
    say('ready');
    const pending = new Set<Promise<void>>();
    for (;;) {
      const shard = (await told()) as string;
      if (shard === 'end') break;
      const answer = client
        .request({ origin: data.origin, path: `/${shard}`, method: 'GET' })
        .then(async ({ statusCode, body }) => {
          await body.dump();
          say(`${shard} ${statusCode}`);
        });
      pending.add(answer);
    }
    await Promise.all(pending);
    await agent.close();
  }

  it('is left alone by two threads when one of them is told, but for its calm shards', async () => {
    await app.register(fastifyPressure, {
      source: { pressure: (bucket) => pressures[bucket ?? ''] ?? 0 },
      bucket: ({ params }) => (params as { shard?: string }).shard,
    });
    app.get<{ Params: { shard: string } }>('/:shard', async ({ params }) => {
      seen.push(params.shard);
      return 'ok';
    });
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const data = {
      origin,
      undici: import.meta.resolve('undici'),
      adapter: new URL('../../dist/adapters/undici.js', import.meta.url).href,
    };
    const [one, other] = [
      startThread(runtime.handle(), ask, data),
      startThread(runtime.handle(), ask, data),
    ];
    for (const thread of [one, other]) expect(await thread.heard()).toBe('ready');
    pressures['a'] = 0.9;
    one.tell('a');
    expect(await one.heard()).toBe('a 200');
    await until('the window is open', () => open().includes('/a'));
    one.tell('a');
    other.tell('a');
    await until('both threads wait', () => waiting() === 2);
    for (const thread of [one, other]) {
      thread.tell('b');
      expect(await thread.heard()).toBe('b 200');
    }
    expect(seen).toEqual(['a', 'b', 'b']);
    // Past the hard limit: whoever comes is refused and told so.
    pressures['b'] = 1;
    one.tell('b');
    expect(await one.heard()).toBe('b 503');
    await until('the other window is open', () => open().includes('/b'));
    other.tell('b');
    await until('a third call waits', () => waiting() === 3);
    pressures['a'] = 0;
    pressures['b'] = 0;
    runtime.gate.pressure('/a').report(0);
    runtime.gate.pressure('/b').report(0);
    expect(await one.heard()).toBe('a 200');
    expect([await other.heard(), await other.heard()].toSorted()).toEqual(['a 200', 'b 200']);
    for (const thread of [one, other]) thread.tell('end');
    await Promise.all([one.done, other.done]);
  });
});
