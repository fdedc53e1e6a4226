import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  attach,
  createRuntime,
  type Gate,
  type Runtime,
  type RuntimeEvents,
  type RuntimeOptions,
  type ThrottleChange,
} from '../../dist/index.js';
import { HEADER, RING_RECORDS } from '../../dist/shared/layout.js';
import { arenaOf, ControlThreads, controlThreadId } from './control-threads.js';
import { startThread } from './test-thread.js';
import { pause, until } from './until.js';

/** The shortest timer that there is. */
const NEXT_TURN_MS = 1;

let controls: ControlThreads;
let runtime: Runtime;
beforeEach(() => {
  controls = new ControlThreads();
});
afterEach(async () => {
  controls.stop();
  await runtime.close({ deadlineMs: 0 });
});

async function start(tables: NonNullable<RuntimeOptions['tables']> = {}): Promise<Gate> {
  runtime = await createRuntime({
    host: { rpcs: { write: { qpsPerCore: 0 }, read: { qpsPerCore: 50, burst: 10 } } },
    tables: {
      enabled: true,
      rpcs: ['write'],
      windowMs: 500,
      upgradeIntervalMs: 150,
      downgradeIntervalMs: 400,
      topK: 1,
      ...tables,
    },
  });
  const { gate } = runtime;
  await until('the owner is watched', () => watchers().includes(1));
  return gate;
}

/** Which control generation watches each attached thread. */
function watchers(): number[] {
  const { i32, layout } = arenaOf(runtime);
  return Array.from({ length: layout.capacity.threads }, (_, index) => layout.thread(index).header)
    .filter((header) => (i32[header >>> 2]! & 1) === 1)
    .map((header) => i32[(header + 8) >>> 2]!);
}

/** Calls of one table, so fast that it is the hottest. */
async function heat(gate: Gate, table: string, calls: number): Promise<void> {
  const one = (): Promise<void> =>
    gate.call({ rpc: 'write', table, maxWaitMs: 0 }, () => undefined);
  await Promise.allSettled(Array.from({ length: calls }, one));
}

async function sayBusy(gate: Gate): Promise<void> {
  await gate.call({ rpc: 'write', classify: () => 'busy' }, () => undefined);
}

async function runInBatches(times: number, run: () => Promise<void>): Promise<void> {
  for (let left = times; left > 0; left -= 100)
    await Promise.all(Array.from({ length: Math.min(left, 100) }, run));
}

const level = (): number => runtime.snapshot().level;
const limits = (): string[] =>
  runtime.snapshot().limits.map(({ table, qpsLimit }) => `${table}: ${qpsLimit.toFixed(3)}`);

/** Slows table after table, one level each. */
async function upgradeTo(gate: Gate, tables: readonly string[]): Promise<void> {
  for (const [i, table] of tables.entries()) {
    for (const deadline = performance.now() + 10_000; level() <= i; ) {
      if (performance.now() > deadline) throw new Error(`level ${i + 1} is not reached`);
      await heat(gate, table, 200 * (i + 1));
      await pause(110);
      await sayBusy(gate);
      await pause(10);
    }
  }
}

describe('while there is no control thread', () => {
  it('limits in force stay in force, those of the host and those of tables', async () => {
    const gate = await start({ downgradeIntervalMs: 60_000 });
    await upgradeTo(gate, ['a', 'b']);
    const before = limits();
    await controls.kill(runtime);

    expect(controlThreadId(runtime)).toBe(0);
    expect(limits()).toEqual(before);
    expect(level()).toBe(2);
    for (const { table } of runtime.snapshot().limits) {
      const call = () => gate.call({ rpc: 'write', table, maxWaitMs: 0 }, () => undefined);
      const calls = await Promise.allSettled(Array.from({ length: 1000 }, call));
      expect(calls.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    }
    let granted = 0;
    while (gate.tryAcquire('read')) granted += 1;
    expect(granted).toBeLessThanOrEqual(10 + 1);
    expect(controlThreadId(runtime)).toBe(0);
    await until('it is back', () => controlThreadId(runtime) !== 0);
    expect(limits()).toEqual(before);
    expect(level()).toBe(2);
  });

  it('waiters get their turn and threads may join; both are found afterwards', async () => {
    const gate = await start();
    while (gate.tryAcquire('read'));
    await controls.kill(runtime);
    const waits = [1, 2, 3].map(() => gate.acquire('read'));
    const thread = startThread<number>(runtime.handle(), async ({ spillway, handle }) => {
      return (await spillway.attach(handle).acquire('read', { maxWaitMs: 5000 })).waitedMs;
    });
    await Promise.all(waits);
    expect(await thread.done).toBeGreaterThanOrEqual(0);
    await until('it is back', () => controlThreadId(runtime) !== 0);
    await until('only the owner is left, watched anew', () => String(watchers()) === '2');
  });

  it('BUSY answers are kept, and slow the hottest table once it is back', async () => {
    const gate = await start({ downgradeIntervalMs: 60_000 });
    await controls.kill(runtime);
    for (let i = 0; i < 5; i++) await sayBusy(gate);
    expect(level()).toBe(0);
    const hot = setInterval(() => void heat(gate, 'a', 20), 10);
    await until('the successor has heard of it', () => level() === 1);
    clearInterval(hot);
    const { throttle, ringDrops, limits: slowed } = runtime.snapshot();
    expect(slowed.map(({ table }) => table)).toEqual(['a']);
    expect(throttle.busy).toBe(5);
    expect(ringDrops.busy).toBe(0);
  });

  it('BUSY answers that overflow a ring are counted all the same', async () => {
    const gate = await start({ downgradeIntervalMs: 60_000 });
    await controls.kill(runtime);
    await runInBatches(1000, () => sayBusy(gate));
    expect(controlThreadId(runtime)).toBe(0);
    const { throttle, ringDrops } = runtime.snapshot();
    expect(throttle.busy).toBe(1000);
    expect(ringDrops.busy).toBe(1000 - RING_RECORDS);
    const hot = setInterval(() => void heat(gate, 'a', 20), 10);
    await until('the successor has heard of it', () => level() === 1);
    clearInterval(hot);
    expect(runtime.snapshot().throttle.busy).toBe(1000);
  });

  it('a change of the configuration waits for the next one, and is answered', async () => {
    await start();
    await controls.kill(runtime);
    const change = runtime.updateConfig({ host: { rpcs: { read: { burst: 33 } } } });
    expect(controlThreadId(runtime)).toBe(0);
    expect(await change).toEqual({ version: 2 });
    expect(runtime.snapshot()).toMatchObject({ configVersion: 2 });
    expect(runtime.snapshot().rpcs.find(({ rpc }) => rpc === 'read')?.burst).toBe(33);
  });
});

it('a control thread gives signs of life, none once it is gone, and its successor does', async () => {
  await start();
  const seen = (): number => arenaOf(runtime).f64[HEADER.CONTROL_SEEN >>> 3] as number;
  const first = seen();
  expect(first).toBeGreaterThan(0);
  await until('it gives another', () => seen() > first);
  await controls.kill(runtime);
  const last = seen();
  const [before, atMs] = [runtime.snapshot().controlSilentMs, runtime.snapshot().atMs];
  // In one turn of the owner's loop: nobody is there to give a sign.
  while (runtime.snapshot().atMs < atMs + 20);
  expect(seen()).toBe(last);
  expect(runtime.snapshot().controlSilentMs).toBeGreaterThanOrEqual(before + 15);
  await until('its successor gives one', () => seen() > last);
  expect(runtime.snapshot().controlRestarts).toBe(1);
});

describe('a control thread that is killed', () => {
  it('is started again in the turn after the one in which the owner learns of its end', async () => {
    await start();
    const restarts: RuntimeEvents['control-restart'][] = [];
    runtime.on('control-restart', (event) => restarts.push(event));
    const worker = controls.of(runtime)!;
    await until('it is not young any more', () => runtime.snapshot().atMs > 1500);
    for (let kill = 1; kill <= 2; kill++) {
      const victim = controls.of(runtime)!;
      // Its successor takes as long as this machine does to start a thread; what is ours is that nothing is waited for.
      // Timers of one length end in the order in which they began, and the owner has learnt of the end before.
      const turn = new Promise((resolve) =>
        victim.once('exit', () => setTimeout(resolve, NEXT_TURN_MS)),
      );
      void victim.terminate();
      await turn;
      // The second one may die young: then its successor is not hurried.
      if (kill === 1) expect(controls.newest()).not.toBe(victim);
      await until('it is back', () => restarts.length === kill);
    }
    expect(restarts.map(({ generation, restarts: count }) => [generation, count])).toEqual([
      [2, 1],
      [3, 2],
    ]);
    expect(runtime.snapshot()).toMatchObject({ controlGeneration: 3, controlRestarts: 2 });
    expect(worker.threadId).toBe(-1);
  });

  it('keeps its history and its totals: levels are released one by one, in the reverse order', async () => {
    const gate = await start();
    const tablesOf = ({ actions }: ThrottleChange): string =>
      actions.map(({ table }) => table).join();
    const slowed: string[] = [];
    const released: string[] = [];
    /** Upgrades in the totals above those that were told of. */
    const ahead: number[] = [];
    runtime.on('upgrade', (change) => {
      ahead.push(runtime.snapshot().throttle.upgrades - ahead.length - 1);
      if (change.actions.length > 0) slowed.push(tablesOf(change));
    });
    runtime.on('downgrade', (change) => released.push(tablesOf(change)));
    await upgradeTo(gate, ['a', 'b', 'c']);
    const before = limits();
    await controls.kill(runtime);
    expect(limits()).toEqual(before);
    await until('all is released', () => level() === 0 && controlThreadId(runtime) !== 0, 15_000);
    await until('the owner has heard of all', () => released.length === slowed.length);
    expect(slowed.length).toBeGreaterThanOrEqual(3);
    expect(released).toEqual(slowed.toReversed());
    // No total is lost with the thread that kept it.
    expect(Math.min(...ahead)).toBeGreaterThanOrEqual(0);
    const { upgrades, downgrades } = runtime.snapshot().throttle;
    expect([upgrades, downgrades]).toEqual([ahead.length, released.length]);
    expect(limits()).toEqual([]);
  });

  it('may be on its way back at any moment when the runtime closes', async () => {
    for (const afterMs of [0, 255, 280, 330]) {
      await start();
      await controls.kill(runtime);
      await pause(afterMs);
      const before = performance.now();
      await runtime.close({ deadlineMs: 20_000 });
      expect(performance.now() - before).toBeLessThan(10_000);
    }
  });

  it('hears of BUSY again after a thread died between ringing its bell and waking it', async () => {
    const gate = await start({ upgradeIntervalMs: 1, downgradeIntervalMs: 60_000 });
    const { i32 } = arenaOf(runtime);
    const bell = HEADER.CONTROL_ASLEEP >>> 2;
    await until('it sleeps', () => Atomics.load(i32, bell) === 1);
    // What such a thread leaves behind.
    Atomics.store(i32, bell, 0);
    await until('the bell is hung up again', () => Atomics.load(i32, bell) === 1, 3000);
    await heat(gate, 'a', 500);
    await pause(250);
    await sayBusy(gate);
    await until('it has heard', () => level() === 1, 3000);
  });

  it('twenty times in a row, at any moment of upgrades and changes, leaves nothing behind', {
    timeout: 60_000,
  }, async () => {
    const gate = await start({ upgradeIntervalMs: 50, downgradeIntervalMs: 60, topK: 2 });
    const restarts: number[] = [];
    runtime.on('control-restart', ({ restarts: count }) => restarts.push(count));
    let upgrades = 0;
    runtime.on('upgrade', ({ actions }) => {
      upgrades += actions.length;
    });
    const client = startThread<number[]>(runtime.handle(), async ({ spillway, handle, told }) => {
      const other = spillway.attach(handle);
      let stop = false;
      void told().then(() => {
        stop = true;
      });
      const versions: number[] = [];
      for (let burst = 100; !stop; burst++) {
        const { version } = await other.updateConfig({ host: { rpcs: { read: { burst } } } });
        versions.push(version);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return versions;
    });
    controls.ignore(client.worker);
    let stop = false;
    const load = (async () => {
      for (let i = 0; !stop; i++) {
        await heat(gate, `table ${i % 7}`, 60);
        await gate.call({ rpc: 'write', classify: () => 'busy' }, () => undefined);
        await pause(3);
      }
    })();
    const changes = (async () => {
      const versions: number[] = [];
      while (!stop) {
        const ratio = 0.5 + versions.length / 1e5;
        versions.push((await runtime.updateConfig({ tables: { ratio } })).version);
        expect(runtime.config().tables.ratio).toBe(ratio);
        await pause(7);
      }
      return versions;
    })();
    for (let kill = 1; kill <= 20; kill++) {
      // The youngest of all, ready or still starting.
      await until('there is one to kill', () => controls.newest()?.threadId !== -1);
      if (kill % 5 === 1) {
        const before = upgrades;
        await until('one more upgrade', () => upgrades > before);
      } else {
        await pause(Math.random() * 80);
      }
      await controls.newest()?.terminate();
    }
    stop = true;
    client.tell('stop');
    await Promise.all([load, changes]);
    const ascending = (versions: readonly number[]): number[] =>
      [...new Set(versions)].sort((a, b) => a - b);
    const [mine, others] = [await changes, await client.done];
    expect(mine).toEqual(ascending(mine));
    expect(others).toEqual(ascending(others));
    expect(new Set([...mine, ...others]).size).toBe(mine.length + others.length);
    expect(Math.min(mine.length, others.length)).toBeGreaterThanOrEqual(4);
    expect(upgrades).toBeGreaterThan(0);

    await until('it is back', () => controlThreadId(runtime) !== 0);
    await until('all is released', () => level() === 0 && limits().length === 0, 30_000);
    expect(runtime.snapshot().controlRestarts).toBe(20);
    expect(restarts.at(-1)).toBe(20);
    await until('the owner alone is left, watched anew', () => String(watchers()) === '21');
    expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
    expect(attach(runtime.handle())).toBe(gate);
  });
});
