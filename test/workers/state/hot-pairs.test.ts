import { expect, it } from 'vitest';
import { HotPairs, MAX_HOT_PAIRS } from '../../../src/workers/state/hot-pairs.js';

/** Counts by place; a place is given to another pair by a new generation. */
function directory() {
  const cells = new Map<number, { generation: number; count: number }>();
  const gone = new Set<number>();
  const pairs = new HotPairs({
    capacity: 500,
    visit: (seen) => {
      for (const [index, { generation, count }] of cells) seen(index, generation, count);
    },
    name: (index, generation) =>
      gone.has(index) ? undefined : { rpc: 'get', table: `${index}.${generation}` },
  });
  const set = (index: number, count: number, generation = 1) =>
    void cells.set(index, { generation, count });
  const look = (nowMs: number) => pairs.look(nowMs).map(({ table, qps }) => [table, qps]);
  return { set, look, gone, cells };
}

it('knows nothing at first, then what was counted between two looks, the fastest first', () => {
  const { set, look } = directory();
  set(0, 1000);
  set(1, 50);
  set(2, 7);
  expect(look(0)).toEqual([]);
  set(0, 1010);
  set(1, 150);
  expect(look(2000)).toEqual([
    ['1.1', 50],
    ['0.1', 5],
  ]);
});

it('tells again what is younger than half a second', () => {
  const { set, look } = directory();
  set(0, 0);
  look(0);
  set(0, 10);
  expect(look(499)).toEqual([]);
  expect(look(500)).toEqual([['0.1', 20]]);
  set(0, 1000);
  expect(look(999)).toEqual([['0.1', 20]]);
  expect(look(1000)).toEqual([['0.1', 1980]]);
});

it('knows nothing where the last look was long ago', () => {
  const { set, look } = directory();
  set(0, 0);
  look(0);
  set(0, 500);
  expect(look(10_001)).toEqual([]);
  set(0, 600);
  expect(look(20_001)).toEqual([['0.1', 10]]);
});

it('counts a place from 0 where it is new, or another pair has it now', () => {
  const { set, look } = directory();
  set(0, 1_000_000);
  look(0);
  set(0, 30, 3);
  set(1, 40);
  expect(look(1000)).toEqual([
    ['1.1', 40],
    ['0.3', 30],
  ]);
});

it('leaves out who is gone, and who is not called', () => {
  const { set, look, gone, cells } = directory();
  for (const index of [0, 1, 2, 3]) set(index, 0);
  look(0);
  set(0, 5);
  set(1, 5);
  gone.add(1);
  cells.delete(2);
  expect(look(1000)).toEqual([['0.1', 5]]);
});

it('is bounded', () => {
  const { set, look } = directory();
  for (let index = 0; index < 500; index++) set(index, 0);
  look(0);
  for (let index = 0; index < 500; index++) set(index, index);
  const told = look(1000);
  expect(told).toHaveLength(MAX_HOT_PAIRS);
  expect(told[0]).toEqual(['499.1', 499]);
  expect(told.at(-1)).toEqual(['480.1', 480]);
});
