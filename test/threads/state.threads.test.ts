import { execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ConfigError,
  connectAdmin,
  createRuntime,
  type Gate,
  type RecordedEvent,
  type Runtime,
  type RuntimeOptions,
} from '../../dist/index.js';
import { ControlThreads, controlThreadId } from './control-threads.js';
import { startThread } from './test-thread.js';
import { pause, until } from './until.js';

let controls: ControlThreads;
let runtime: Runtime;
beforeEach(() => {
  controls = new ControlThreads();
});
afterEach(async () => {
  controls.stop();
  await runtime?.close({ deadlineMs: 0 });
});

async function start(options: RuntimeOptions = {}): Promise<Gate> {
  runtime = await createRuntime({
    backendId: 2n ** 60n,
    host: { rpcs: { write: { qpsPerCore: 0 }, read: { qpsPerCore: 0.001, burst: 1 } } },
    tables: {
      enabled: true,
      rpcs: ['write'],
      windowMs: 500,
      upgradeIntervalMs: 150,
      downgradeIntervalMs: 60_000,
      topK: 1,
    },
    ...options,
  });
  const { gate } = runtime;
  return gate;
}

const names = (): string[] => runtime.recordedEvents().map(({ name }) => name);

/** Slows table after table, one level each. */
async function slow(gate: Gate, ...tables: readonly string[]): Promise<void> {
  for (const [i, table] of tables.entries()) {
    const call = () => gate.call({ rpc: 'write', table, maxWaitMs: 0 }, () => undefined);
    for (const deadline = performance.now() + 10_000; runtime.snapshot().level <= i; ) {
      if (performance.now() > deadline) throw new Error(`level ${i + 1} is not reached`);
      await Promise.allSettled(Array.from({ length: 200 * (i + 1) }, call));
      await pause(110);
      await gate.call({ rpc: 'write', classify: () => 'busy' }, () => undefined);
      await pause(10);
    }
  }
  // The limit is in force before the owner hears of it.
  await until('the owner has heard of all', () => {
    const { history, throttled } = runtime.state();
    const last = (name: string): number =>
      history.flatMap(({ changes }) => changes.filter(({ table }) => table === name)).at(-1)
        ?.after ?? 0;
    return throttled.every(({ table, qpsLimit }) => Math.abs(last(table) - qpsLimit) < 0.01);
  });
  // A BUSY that was said twice, while the control thread was slow, may be a level more.
  for (let known = -1; known !== runtime.recordedEvents().length; ) {
    known = runtime.recordedEvents().length;
    await pause(400);
  }
}

describe('the state of a runtime', () => {
  it('says what is slowed, why, since when and by how much; as JSON', async () => {
    const gate = await start();
    const stats = { tables: [], logBytes: 5 };
    await slow(gate, 'a', 'b');
    const state = runtime.state({ stores: { orders: { stats: () => stats } } });
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
    const { history, throttled, events, runtime: snapshot } = state;
    expect(state).toMatchObject({
      schema: 1,
      backendId: '1152921504606846976',
      runtimeId: runtime.handle().runtimeId,
      pid: process.pid,
      throttledTotal: snapshot?.limits.length,
      stores: [{ name: 'orders', ...stats }],
    });
    expect(Math.abs(Date.parse(state.startedAt) + state.atMs - Date.parse(state.now))).toBeLessThan(
      5000,
    );
    expect(history.length).toBeGreaterThanOrEqual(2);
    for (const { cause, reason, kind } of history) {
      expect(kind).toBe('upgrade');
      expect(cause).toMatchObject({ kind: 'busy', overMs: 150 });
      expect(reason).toMatch(/^[1-9]\d* BUSY in 150 ms$/);
    }
    expect(throttled.length).toBeGreaterThan(0);
    for (const pair of throttled) {
      const changes = history.flatMap((record) =>
        record.changes
          .filter(({ table }) => table === pair.table)
          .map((change) => ({ ...change, atMs: record.atMs })),
      );
      expect(pair).toMatchObject({
        rpc: 'write',
        qpsBefore: changes[0]?.qps,
        sinceMs: changes[0]?.atMs,
        changedMs: changes.at(-1)?.atMs,
        steps: changes.length,
      });
      expect(pair.qpsLimit).toBeCloseTo(changes.at(-1)?.after ?? 0, 3);
      expect(pair.qpsBefore).toBeGreaterThan(pair.qpsLimit);
    }
    expect(events.filter(({ name }) => name === 'upgrade')).toHaveLength(history.length);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  });

  it('outlives the control thread', async () => {
    const gate = await start();
    await slow(gate, 'a');
    const { throttled, history } = runtime.state();
    await controls.kill(runtime);
    const known = (pairs: typeof throttled) => pairs.map(({ currentQps: _, ...rest }) => rest);
    expect(known(runtime.state().throttled)).toEqual(known(throttled));
    await until('it is back', () => names().includes('control-restart'));
    expect(known(runtime.state().throttled)).toEqual(known(throttled));
    expect(runtime.state().history).toEqual(history);
    await runtime.updateConfig({ tables: { enabled: false } });
    await until('all is lifted', () => names().includes('lifted'));
    const after = runtime.state();
    expect(after.throttled).toEqual([]);
    expect(after.history.at(-1)).toMatchObject({
      kind: 'lifted',
      reason: 'switched off',
      level: 0,
    });
    expect(after.history.length).toBe(history.length + 1);
  });

  it('is there for other threads, too', async () => {
    await start();
    const thread = startThread<unknown>(undefined, async ({ spillway, told }) => {
      const admin = spillway.connectAdmin((await told()) as never);
      const state = await admin.state();
      admin.close();
      return [state.schema, state.runtimeId, state.backendId];
    });
    const port = runtime.adminPort();
    thread.tell(port, [port]);
    expect(await thread.done).toEqual([1, runtime.handle().runtimeId, '1152921504606846976']);
    const own = connectAdmin(runtime.adminPort());
    expect((await own.state()).pid).toBe(process.pid);
    own.close();
  });
});

describe('the events of a runtime', () => {
  it('tell once of each thread that comes, also when the control thread is another by then', async () => {
    await start();
    const tells = (name: string, id: number): number =>
      runtime
        .recordedEvents()
        .filter((one) => one.name === name && 'threadId' in one.event && one.event.threadId === id)
        .length;
    await until('the owner has attached', () => tells('thread-attached', 0) === 1);
    const thread = startThread<void>(runtime.handle(), async ({ spillway, handle, told }) => {
      spillway.attach(handle);
      await told();
    });
    const { threadId } = thread.worker;
    await until('it has attached', () => tells('thread-attached', threadId) === 1);
    await controls.kill(runtime);
    await until('another has taken over', () => names().includes('control-restart'));
    await pause(100);
    thread.tell('leave');
    await thread.done;
    await until('it has ended', () => tells('thread-ended', threadId) === 1);
    expect(tells('thread-attached', threadId)).toBe(1);
    expect(tells('thread-attached', 0)).toBe(1);
  });

  it('tell of calls that are refused', async () => {
    const gate = await start();
    while (gate.tryAcquire('read'));
    await until('it is told', () => names().includes('calls-refused'));
    expect(runtime.recordedEvents().find(({ name }) => name === 'calls-refused')?.event).toEqual({
      rpc: 'read',
      stage: 'host',
      refused: expect.any(Number),
    });
  });

  it('reach listeners, those of one event, of the next one, of all, and of the channel alike', async () => {
    await start();
    const heard: unknown[] = [];
    const onChannel = (message: unknown): void => void heard.push(['channel', message]);
    subscribe('spillway:config', onChannel);
    const seen: RecordedEvent[] = [];
    const leave = runtime.onRecorded((event) => seen.push(event));
    const off = ({ version }: { version: number }): void => void heard.push(['off', version]);
    runtime
      .on('config', ({ version }) => heard.push(['on', version]))
      .once('config', ({ version }) => heard.push(['once', version]))
      .on('config', off)
      .off('config', off);
    await runtime.updateConfig({ host: { qpsPerCore: 7 } });
    await until('the change was heard', () => heard.length >= 3);
    const last = runtime.recordedEvents().find(({ name }) => name === 'config');
    leave();
    await runtime.updateConfig({ host: { qpsPerCore: 8 } });
    await until('the next change was heard', () => heard.length >= 5);
    unsubscribe('spillway:config', onChannel);
    const { runtimeId } = runtime.handle();
    const { seq, atMs } = last ?? {};
    expect(heard).toEqual([
      ['channel', { runtimeId, seq, atMs, event: { version: 2 } }],
      ['on', 2],
      ['once', 2],
      [
        'channel',
        { runtimeId, seq: expect.any(Number), atMs: expect.any(Number), event: { version: 3 } },
      ],
      ['on', 3],
    ]);
    expect(seen.filter(({ name }) => name === 'config')).toEqual([last]);
    expect(() => runtime.on('upgarde' as never, () => {})).toThrow(
      /^name must be one of .*, got 'upgarde'$/,
    );
  });
});

describe('a change of the configuration', () => {
  it('has been told to who listens when it resolves', async () => {
    const runtime = await createRuntime({ host: { rpcs: { read: {} } } });
    let told = 1;
    runtime.on('config', ({ version }) => {
      told = version;
    });
    for (let qpsPerCore = 1; qpsPerCore <= 50; qpsPerCore++) {
      const { version } = await runtime.updateConfig({ host: { qpsPerCore } });
      expect([told, runtime.configVersion]).toEqual([version, version]);
    }
    await runtime.close();
  });
});

describe('who listens and throws', () => {
  it('is an uncaught exception of the process, and harms neither the runtime nor the others', async () => {
    const program = `
      import { subscribe } from 'node:diagnostics_channel';
      import { createRuntime } from './dist/index.js';
      // Who waits for an event only is not kept alive by the runtime.
      setInterval(() => undefined, 1000);
      const fail = (what) => () => { throw new Error(what); };
      process.on('uncaughtException', ({ message }) => console.log('uncaught:', message));
      const log = { debug: fail('log'), info: fail('log'), warn: fail('log'), error: fail('log') };
      const runtime = await createRuntime({ host: { rpcs: { read: {} } }, logger: log });
      runtime.once('config', fail('listener'));
      runtime.onRecorded(fail('record'));
      subscribe('spillway:config', fail('channel'));
      const told = new Promise((resolve) => runtime.on('config', resolve));
      await runtime.updateConfig({ host: { qpsPerCore: 7 } });
      console.log('version', (await told).version);
      console.log(runtime.gate.tryAcquire('read'));
      await new Promise((resolve) => setImmediate(resolve));
      await runtime.close();
      process.exit();
    `;
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--unhandled-rejections=strict', '--input-type=module', '--eval', program],
      { cwd: fileURLToPath(new URL('../..', import.meta.url)), timeout: 30_000 },
    );
    expect(stderr).toBe('');
    const lines = stdout.split('\n');
    expect(lines).toContain('version 2');
    expect(lines).toContain('true');
    for (const what of ['listener', 'record', 'channel'])
      expect(lines).toContain(`uncaught: ${what}`);
    expect(lines).not.toContain('uncaught: log');
  });
});

describe('the option logger', () => {
  it('writes into a real pino, with what was held back', async () => {
    const lines: Record<string, unknown>[] = [];
    const sink = { write: (line: string): void => void lines.push(JSON.parse(line)) };
    const gate = await start({ logger: pino({ level: 'debug' }, sink) });
    await slow(gate, 'a');
    for (let i = 0; i < 5; i += 1) await runtime.updateConfig({ host: { qpsPerCore: 10 + i } });
    await until('all changes were heard', () => names().filter((n) => n === 'config').length === 5);
    await runtime.reloadConfig();
    await runtime.close();
    await until('the end was written', () => lines.some(({ event }) => event === 'closed'));
    const upgrade = lines.find(({ event, rpc }) => event === 'upgrade' && rpc === 'write');
    expect(upgrade).toMatchObject({ level: 40, rpc: 'write', tables: 1 });
    expect(upgrade?.['msg']).toMatch(
      /^write: 1 table slowed, 1 upgrades in force \(\d+ BUSY in 150 ms\)$/,
    );
    const about = lines.filter(
      ({ event, subject }) =>
        event === 'config' || (event === 'suppressed' && subject === 'config'),
    );
    const counted = about.reduce(
      (sum, { event, suppressed }) => sum + Number(event === 'config') + Number(suppressed ?? 0),
      0,
    );
    expect(counted).toBe(6);
    expect(about[0]).toMatchObject({ level: 30, event: 'config', version: 2 });
  });

  it('is refused before anything has been started when it is none', async () => {
    const logger = { ...console, warn: 5 } as never;
    const failed = start({ logger });
    await expect(failed).rejects.toThrow(ConfigError);
    await expect(failed).rejects.toThrow('logger.warn must be a function, got 5');
    expect(controls.newest()).toBeUndefined();
    await start();
    expect(controlThreadId(runtime)).not.toBe(0);
    await expect(runtime.updateConfig({ logger: console } as never)).rejects.toThrow(/^logger /);
  });
});
