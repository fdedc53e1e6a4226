import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ConfigConflictError,
  ConfigError,
  type ConfigPatch,
  createRuntime,
  RateLimitExceededError,
  type Runtime,
  type RuntimeEvents,
} from '../../dist/index.js';
import { startThread, type ThreadSide } from './test-thread.js';
import { pause, until } from './until.js';

const REACTION_MS = 20;
const perCore = (qps: number): number => qps / availableParallelism();

let runtime: Runtime;
beforeEach(async () => {
  runtime = await createRuntime({
    host: {
      rpcs: { slow: { qpsPerCore: perCore(0.01), burst: 5 }, write: { qpsPerCore: 0 } },
    },
    tables: { enabled: true, rpcs: ['write'], upgradeIntervalMs: 20, downgradeIntervalMs: 60_000 },
    waiting: { maxWaitMs: 3_600_000 },
  });
});
afterEach(() => runtime.close({ deadlineMs: 0 }));

/** What does not change by itself. */
const still = () => ({
  ...runtime.snapshot(),
  atMs: 0,
  threads: 0,
  maxLagMs: 0,
  controlSilentMs: 0,
});
const limitOf = (rpc: string) => runtime.snapshot().rpcs.find((one) => one.rpc === rpc);

describe('a change of the configuration', () => {
  it('by a client thread is in force in all threads once it is answered', async () => {
    const events: number[] = [];
    runtime.on('config', ({ version }) => events.push(version));
    const thread = startThread<[number, boolean]>(
      runtime.handle(),
      async ({ spillway, handle }) => {
        const gate = spillway.attach(handle);
        const { version } = await gate.updateConfig({
          host: { rpcs: { newcomer: { qpsPerCore: 0.001, burst: 2 } } },
        });
        return [version, gate.tryAcquire('newcomer')];
      },
    );
    expect(await thread.done).toEqual([2, true]);
    expect(runtime.snapshot().configVersion).toBe(2);
    const { gate } = runtime;
    expect([1, 2].map(() => gate.tryAcquire('newcomer'))).toEqual([true, false]);
    expect(gate.tryAcquire('slow', 5)).toBe(true);
    await until('the owner is told', () => events.length > 0);
    expect(events).toEqual([2]);
    expect(runtime.configVersion).toBe(2);
    expect(runtime.config().host.rpcs['newcomer']).toMatchObject({ burst: 2 });
  });

  it('for a version that is not in force any more is refused, whoever was first', async () => {
    const changes = [1, 2, 3].map((maxWaiters) =>
      runtime.updateConfig({ waiting: { maxWaiters } }, { ifVersion: 1 }),
    );
    const settled = await Promise.allSettled(changes);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const change of changes.slice(1)) {
      const refused: unknown = await change.catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(ConfigConflictError);
      expect(refused).toMatchObject({ code: 'ERR_SPILLWAY_CONFIG_CONFLICT', version: 2 });
    }
    expect(runtime.config().waiting.maxWaiters).toBe(1);
    expect(await runtime.gate.updateConfig({}, { ifVersion: 2 })).toEqual({ version: 3 });
    for (const ifVersion of [0, 1.5, Number.NaN, '2', null]) {
      const change = runtime.updateConfig({}, { ifVersion: ifVersion as number });
      await expect(change).rejects.toThrow(`ifVersion must be an integer >= 1, got ${ifVersion}`);
    }
  });

  it('by an admin port in another thread: what it reads and changes is the runtime itself', async () => {
    const admin = startThread<unknown>(undefined, async ({ spillway, told }) => {
      const remote = spillway.connectAdmin((await told()) as never);
      const { version } = await remote.updateConfig({ waiting: { maxWaiters: 17 } });
      const config = await remote.config();
      const snapshot = await remote.snapshot();
      const failure = await remote.updateConfig({ host: { qpsPerCore: Number.NaN } }).then(
        () => undefined,
        (error: unknown) => error,
      );
      const late = await remote.updateConfig({}, { ifVersion: 1 }).catch((error: unknown) => error);
      remote.close();
      if (!(failure instanceof spillway.ConfigError)) throw failure;
      const { name, message, code, field, rule, value } = failure;
      return {
        version,
        maxWaiters: config.waiting.maxWaiters,
        seen: snapshot.configVersion,
        error: { name, message, code, field, rule, value },
        isOurs: spillway.isSpillwayError(failure),
        isLate: late instanceof spillway.ConfigConflictError && late.version,
        stack: failure.stack?.includes('host.qpsPerCore'),
      };
    });
    const port = runtime.adminPort();
    admin.tell(port, [port]);
    expect(await admin.done).toEqual({
      version: 2,
      maxWaiters: 17,
      seen: 2,
      error: {
        name: 'ConfigError',
        message: 'host.qpsPerCore must be > 0, got NaN',
        code: 'ERR_SPILLWAY_CONFIG',
        field: 'host.qpsPerCore',
        rule: 'must be > 0',
        value: Number.NaN,
      },
      isOurs: true,
      isLate: 2,
      stack: true,
    });
    expect(await admin.ended).toBe(0);
    expect(runtime.config().waiting.maxWaiters).toBe(17);
    expect(runtime.configVersion).toBe(2);
  });

  it('re-reads the file for whoever asks, in whatever thread', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spillway-threads-'));
    const configFile = join(folder, 'be.conf');
    try {
      writeFileSync(configFile, 'ms_rpc_qps_default = 50\nms_backpressure_upgrade_top_k = 3\n');
      const other = await createRuntime({ configFile, host: { rpcs: { a: {} } } });
      await other.updateConfig({ tables: { topK: 9 }, host: { qpsPerCore: 7 } });
      writeFileSync(configFile, 'ms_rpc_qps_default = 60\nms_backpressure_upgrade_top_k = 4\n');
      const admin = startThread<number>(undefined, async ({ spillway, told }) => {
        const remote = spillway.connectAdmin((await told()) as never);
        return (await remote.reloadConfig()).version;
      });
      const port = other.adminPort();
      admin.tell(port, [port]);
      expect(await admin.done).toBe(3);
      expect(other.config()).toMatchObject({ host: { qpsPerCore: 60 }, tables: { topK: 4 } });
      expect(other.snapshot().rpcs[0]?.qpsLimit).toBe(60 * availableParallelism());
      writeFileSync(configFile, 'ms_rpc_qps_default = fast\n');
      await expect(other.reloadConfig()).rejects.toThrow(ConfigError);
      expect(other.config()).toMatchObject({ host: { qpsPerCore: 60 } });
      await other.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('by four threads at once is one change after the other', async () => {
    const changes = 25;
    const threads = [1, 2, 3, 4].map((number) =>
      startThread<[number, number][], number>(
        runtime.handle(),
        async ({ spillway, handle, data }) => {
          const gate = spillway.attach(handle);
          const made: [number, number][] = [];
          for (let i = 0; i < 25; i++) {
            const burst = data * 1000 + i;
            const patch = { host: { rpcs: { slow: { burst }, [`own_${data}`]: { burst } } } };
            made.push([(await gate.updateConfig(patch)).version, burst]);
          }
          return made;
        },
        number,
      ),
    );
    const made = await Promise.all(threads.map(({ done }) => done));
    const all = made.flat().sort(([a], [b]) => a - b);
    expect(all.map(([version]) => version)).toEqual(
      Array.from({ length: changes * 4 }, (_, i) => i + 2),
    );
    for (const [i, own] of made.entries()) {
      expect(own.map(([version]) => version)).toEqual(
        own.map(([version]) => version).sort((a, b) => a - b),
      );
      expect(limitOf(`own_${i + 1}`)?.burst).toBe(own.at(-1)?.[1]);
    }
    expect(limitOf('slow')?.burst).toBe(all.at(-1)?.[1]);
    expect(runtime.snapshot().configVersion).toBe(changes * 4 + 1);
    await until('the owner has heard', () => runtime.configVersion === changes * 4 + 1);
    expect(runtime.config().host.rpcs['slow']?.burst).toBe(all.at(-1)?.[1]);
  });

  it.each<[string, unknown, string]>([
    ['NaN', { host: { qpsPerCore: Number.NaN } }, 'host.qpsPerCore'],
    [
      'Infinity',
      { tables: { upgradeIntervalMs: Number.POSITIVE_INFINITY } },
      'tables.upgradeIntervalMs',
    ],
    ['a negative number', { waiting: { maxWaitMs: -1 } }, 'waiting.maxWaitMs'],
    ['a string', { host: { rpcs: { slow: { burst: '5' } } } }, 'host.rpcs.slow.burst'],
    ['an unknown option', { hots: {} }, 'hots'],
    [
      'an unknown option of an RPC type',
      { host: { rpcs: { slow: { qps: 1 } } } },
      'host.rpcs.slow.qps',
    ],
    ['what cannot change', { tables: { windowMs: 1000 } }, 'tables.windowMs'],
    ['a size that cannot change', { capacity: { threads: 2 } }, 'capacity.threads'],
    ['a function', { host: { qpsPerCore: () => 1 } }, 'host.qpsPerCore'],
    [
      'one bad value among good ones',
      { waiting: { maxWaiters: 3 }, tables: { ratio: 2 } },
      'tables.ratio',
    ],
  ])(
    'with %s is refused, from this thread and another, and changes nothing',
    async (_name, patch, field) => {
      const { gate } = runtime;
      expect(gate.tryAcquire('slow', 5)).toBe(true);
      const before = still();
      const config = runtime.config();
      const error = await runtime.updateConfig(patch as ConfigPatch).catch((reason) => reason);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error).toMatchObject({ field, code: 'ERR_SPILLWAY_CONFIG' });
      if (field !== 'host.qpsPerCore') {
        const thread = startThread<string, unknown>(
          runtime.handle(),
          async ({ spillway, handle, data }) => {
            const failure = await spillway
              .attach(handle)
              .updateConfig(data as never)
              .catch((reason: unknown) => reason);
            return failure instanceof spillway.ConfigError ? failure.field : String(failure);
          },
          patch,
        );
        expect(await thread.done).toBe(field);
        await until('it has left', () => runtime.snapshot().threads === 1);
      }
      expect(still()).toEqual(before);
      expect(runtime.config()).toBe(config);
      expect(gate.tryAcquire('slow')).toBe(false);
    },
  );
});

interface Reaction {
  /** When the waiter was let go or rejected, `hrtime` in ms. */
  readonly atMs: number;
  readonly outcome: string;
  /** The longest that the thread's own timer of 1 ms was late meanwhile. */
  readonly stallMs: number;
}

/** Waits in a thread, and tells when and how the wait ended, by the clock that all threads have in common. */
async function waitAndTell({
  spillway,
  handle,
  data,
  say,
}: ThreadSide<{ n: number; table: number | undefined }>): Promise<Reaction> {
  const gate = spillway.attach(handle);
  const now = (): number => Number(process.hrtime.bigint()) / 1e6;
  let stallMs = 0;
  let last = now();
  const timer = setInterval(() => {
    stallMs = Math.max(stallMs, now() - last - 1);
    last = now();
  }, 1);
  const { table, n } = data;
  const wait =
    table === undefined
      ? gate.acquire('slow', { n })
      : gate.call({ rpc: 'write', table }, () => undefined);
  say('waiting');
  let outcome = 'granted';
  try {
    await wait;
  } catch (error) {
    outcome = (error as Error).name;
  }
  const atMs = now();
  clearInterval(timer);
  stallMs = Math.max(stallMs, atMs - last - 1);
  return { atMs, outcome, stallMs };
}

describe('a waiter in another thread', () => {
  const now = (): number => Number(process.hrtime.bigint()) / 1e6;

  async function reacts(
    waits: { n: number; table: number | undefined },
    change: () => Promise<unknown>,
    outcome: string,
  ): Promise<void> {
    const threads = [1, 2].map(() =>
      startThread<Reaction, typeof waits>(runtime.handle(), waitAndTell, waits),
    );
    await Promise.all(threads.map((thread) => thread.heard()));
    await pause(20);
    const from = now();
    await change();
    // In force from some moment before this one.
    const inForceMs = now();
    for (const reaction of await Promise.all(threads.map(({ done }) => done))) {
      expect(reaction.outcome).toBe(outcome);
      expect(reaction.atMs).toBeGreaterThan(from);
      expect(reaction.atMs - inForceMs).toBeLessThan(REACTION_MS + reaction.stallMs);
    }
    await until('they have left', () => runtime.snapshot().threads === 1);
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  }

  it.each<[string, ConfigPatch, string]>([
    ['a faster rate', { host: { rpcs: { slow: { qpsPerCore: 100_000 } } } }, 'granted'],
    ['the end of its limit', { host: { rpcs: { slow: { qpsPerCore: 0 } } } }, 'granted'],
    ['the switch', { host: { enabled: false } }, 'granted'],
    ['a dry run', { host: { dryRun: true } }, 'granted'],
    [
      'a burst that is less than it wants',
      { host: { rpcs: { slow: { burst: 2 } } } },
      'RangeError',
    ],
  ])('reacts to %s within 20 ms', async (_name, patch, outcome) => {
    expect(runtime.gate.tryAcquire('slow', 5)).toBe(true);
    await reacts({ n: 3, table: undefined }, () => runtime.updateConfig(patch), outcome);
  });

  /** Slows table 1 to less than a call in a minute. */
  async function slowTable(): Promise<void> {
    await runtime.updateConfig({ tables: { ratio: 0.001, floorQps: 0.001 } });
    const classify = () => 'busy' as const;
    const call = () =>
      runtime.gate.call({ rpc: 'write', table: 1, maxWaitMs: 0, classify }, () => undefined);
    for (let i = 0; runtime.snapshot().level === 0; i++) {
      if (i === 500) throw new Error('the table is never slowed');
      await Promise.allSettled([call(), call()]);
      await pause(10);
    }
    // Whoever comes first under a limit may go.
    await Promise.allSettled([call()]);
  }

  it.each<[string, ConfigPatch]>([
    ['the switch', { tables: { enabled: false } }],
    ['a dry run', { tables: { dryRun: true } }],
  ])('at a table reacts to %s within 20 ms', async (_name, patch) => {
    await slowTable();
    await reacts({ n: 1, table: 1 }, () => runtime.updateConfig(patch), 'granted');
  });

  it('at a table reacts within 20 ms when its level is released', async () => {
    await slowTable();
    const released = new Promise<RuntimeEvents['downgrade']>((resolve) =>
      runtime.on('downgrade', (event) => {
        if (event.level === 0) resolve(event);
      }),
    );
    await reacts(
      { n: 1, table: 1 },
      async () => {
        await runtime.updateConfig({ tables: { downgradeIntervalMs: 50 } });
        expect((await released).actions).toMatchObject([{ type: 'remove_limit', table: '1' }]);
      },
      'granted',
    );
    expect(runtime.snapshot()).toMatchObject({ level: 0, limits: [] });
  });
});

it('dry runs can be switched on and off while threads call: nobody waits while they are on', async () => {
  await runtime.updateConfig({
    host: { dryRun: true, rpcs: { slow: { qpsPerCore: perCore(1), burst: 1 } } },
  });
  const { gate } = runtime;
  for (let i = 0; i < 20; i++) expect(gate.tryAcquire('slow')).toBe(true);
  expect(await gate.acquire('slow')).toEqual({ waitedMs: 0 });
  expect(limitOf('slow')?.dryRunWaitMs).toBeGreaterThan(0);
  await runtime.updateConfig({ host: { dryRun: false } });
  expect(gate.tryAcquire('slow')).toBe(true);
  expect(gate.tryAcquire('slow')).toBe(false);
  await expect(gate.acquire('slow', { maxWaitMs: 1 })).rejects.toThrow(RateLimitExceededError);
  const wait = gate.acquire('slow', { maxWaitMs: 60_000 });
  await runtime.updateConfig({ host: { dryRun: true } });
  expect((await wait).waitedMs).toBeLessThan(30_000);
  expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
});
