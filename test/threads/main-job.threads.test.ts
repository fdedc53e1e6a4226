import { Piscina } from 'piscina';
import { afterEach, expect, it } from 'vitest';
import { createRuntime, type Runtime, type ThrottleChange } from '../../dist/index.js';
import { pause, until } from './until.js';

const THREADS = 4;
const RUN_MS = 2000;

let runtime: Runtime;
let pool: Piscina;
afterEach(async () => {
  await pool.destroy();
  await runtime.close({ deadlineMs: 0 });
});

it('four pool threads overload a downstream: hot tables are slowed, step by step, and released in reverse', async () => {
  runtime = await createRuntime({
    host: { rpcs: { commit: { qpsPerCore: 0 } } },
    tables: {
      enabled: true,
      rpcs: ['commit'],
      windowMs: 400,
      upgradeIntervalMs: 60,
      downgradeIntervalMs: 120,
      ratio: 0.5,
      floorQps: 20,
    },
  });
  /** What was slowed at each level, the newest last; every release must be of the last. */
  const levels: string[] = [];
  const wrong: unknown[] = [];
  const slowed = new Set<string>();
  let highest = 0;
  const tablesOf = ({ actions }: ThrottleChange): string =>
    actions
      .map(({ table }) => table)
      .sort()
      .join();
  runtime.on('upgrade', (change) => {
    for (const { table } of change.actions) slowed.add(table);
    if (change.level > levels.length) levels.push(tablesOf(change));
    highest = Math.max(highest, levels.length);
    if (change.level !== levels.length) wrong.push(change);
  });
  runtime.on('downgrade', (change) => {
    if (levels.pop() !== tablesOf(change) || change.level !== levels.length) wrong.push(change);
  });

  pool = new Piscina({
    filename: new URL('./pool-worker.mjs', import.meta.url).href,
    minThreads: THREADS,
    maxThreads: THREADS,
  });
  const words = new Int32Array(new SharedArrayBuffer(16));
  const load = { words, capacityPerSecond: 400, epoch: process.hrtime.bigint(), hot: ['a', 'b'] };
  const drivers = Array.from({ length: THREADS }, (_, i) =>
    pool.run({ ...load, cold: `cold ${i}` }, { name: 'drive' }),
  ) as Promise<{ hotOk: number; coldOk: number; refused: number }>[];

  await until('the downstream is busy', () => words[3]! > 100, 20_000);
  await pause(RUN_MS);
  const { throttle } = runtime.snapshot();
  Atomics.store(words, 0, 1);
  const tallies = await Promise.all(drivers);

  const sum = (which: 'hotOk' | 'coldOk' | 'refused'): number =>
    tallies.reduce((total, tally) => total + tally[which], 0);
  expect(highest).toBeGreaterThanOrEqual(2);
  expect([...slowed]).toEqual(expect.arrayContaining(['a', 'b']));
  // Without a limit all of these would have been BUSY as well.
  expect(words[3]!).toBeLessThan(sum('refused') / 2);
  expect(throttle.busy).toBeGreaterThan(100);
  expect(sum('hotOk')).toBeGreaterThan(50);
  expect(sum('coldOk')).toBeGreaterThan(20);

  await until('every level is released', () => runtime.snapshot().level === 0, 20_000);
  await until('the owner has heard of it', () => levels.length === 0);
  expect(wrong).toEqual([]);
  const { limits, conservation, rpcs } = runtime.snapshot();
  expect(limits).toEqual([]);
  expect(conservation).toMatchObject({ ok: true, held: 0 });
  expect(rpcs[0]).toMatchObject({ throttledTables: 0, busy: words[3] });
});
