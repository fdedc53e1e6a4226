import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Arena, createArena } from '../../src/shared/arena.js';
import { DirectoryKeeper } from '../../src/shared/directory-keeper.js';
import { KeyDirectory } from '../../src/shared/key-directory.js';
import { HEADER } from '../../src/shared/layout.js';
import { BucketPlace, PressureWindows } from '../../src/shared/pressure/pressure-windows.js';
import { BUCKET_SPACE } from '../../src/shared/pressure/window-cells.js';
import { RECORD } from '../../src/workers/report-ring.js';
import { WindowUpkeep } from '../../src/workers/window-upkeep.js';

const MS = 1e6;

let arena: Arena;
let directory: KeyDirectory;
let windows: PressureWindows;
let upkeep: WindowUpkeep;
let nowNs: number;
let told: number;
let removals: number;

beforeEach(() => {
  const capacity = { threads: 1, rpcs: 1, pairs: 16 };
  arena = createArena(capacity, process.env['SPILLWAY_KERNEL'] === 'twin').arena;
  const { buffer, layout } = arena;
  directory = new KeyDirectory(buffer, layout.directory, capacity.pairs);
  windows = new PressureWindows({ buffer, directory, epoch: HEADER.PRESSURE_EPOCH });
  const quiescence = { request: () => 0, passed: () => false };
  [nowNs, told, removals] = [0, 0, 0];
  upkeep = new WindowUpkeep({
    arena,
    clock: { nowNs: () => nowNs },
    directory,
    keeper: new DirectoryKeeper(buffer, layout.directory, capacity.pairs, quiescence),
    onRemoved: () => {
      removals += 1;
    },
    onEased: () => {
      told += 1;
    },
  });
});
afterEach(() => upkeep.close());

const open = (bucket: string, windowMs: number): void =>
  void windows.signal(new BucketPlace(bucket), 0.5, windowMs, nowNs);

const buckets = (): number => {
  let count = 0;
  directory.visit((_index, _generation, space) => {
    if (space === BUCKET_SPACE) count += 1;
  });
  return count;
};

const turn = (): Promise<void> => new Promise(setImmediate);

it('gives back the cells of windows that are over, and only looks while there are any', () => {
  const visits = vi.spyOn(directory, 'visit');
  upkeep.look();
  expect(visits).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 5; i += 1) upkeep.look();
  expect(visits).toHaveBeenCalledTimes(1);
  open('a', 100);
  open('b', 200);
  nowNs = 100 * MS;
  upkeep.look();
  expect([buckets(), removals]).toEqual([1, 1]);
  nowNs = 200 * MS;
  upkeep.look();
  expect([buckets(), removals]).toEqual([0, 2]);
  visits.mockClear();
  upkeep.look();
  expect(visits).not.toHaveBeenCalled();
  // A thread that was killed before it could announce its bucket.
  directory.findOrInsert(BUCKET_SPACE, 'c');
  upkeep.threadEnded();
  upkeep.look();
  expect(buckets()).toBe(0);
});

it('tells of windows that became shorter once a turn, and finds records that were dropped', async () => {
  upkeep.record(RECORD.BUSY);
  upkeep.look();
  await turn();
  expect(told).toBe(0);
  for (let i = 0; i < 3; i += 1) upkeep.record(RECORD.PRESSURE_EASED);
  await turn();
  expect(told).toBe(1);
  Atomics.add(arena.i32, HEADER.PRESSURE_EASED >>> 2, 1);
  upkeep.look();
  await turn();
  upkeep.look();
  await turn();
  expect(told).toBe(2);
  upkeep.record(RECORD.PRESSURE_EASED);
  upkeep.close();
  await turn();
  expect(told).toBe(2);
});

it('cuts the windows that are open', () => {
  open('a', 1000);
  open('b', 10);
  upkeep.shorten(100);
  const endOf = (bucket: string) => windows.window(new BucketPlace(bucket), nowNs)?.endNs;
  expect([endOf('a'), endOf('b')]).toEqual([100 * MS, 10 * MS]);
});
