import { describe, expect, it } from 'vitest';
import { DirectoryKeeper } from '../../src/shared/directory-keeper.js';
import { KeyDirectory, keyDirectoryBytes } from '../../src/shared/key-directory.js';
import { QuiescenceWords, quiescenceBytes } from '../../src/shared/quiescence.js';
import { ThreadKeyCache } from '../../src/shared/thread-key-cache.js';

function create(capacity: number, entries?: number) {
  const buffer = new SharedArrayBuffer(64 + keyDirectoryBytes(capacity));
  const directory = new KeyDirectory(buffer, 64, capacity);
  const quiescence = new QuiescenceWords(new SharedArrayBuffer(quiescenceBytes(1)), 0, 1);
  const keeper = new DirectoryKeeper(buffer, 64, capacity, quiescence);
  const cache = new ThreadKeyCache(buffer, directory, entries);
  const remove = (cell: number) => {
    expect(keeper.remove(directory.indexOf(cell), () => false)).toBe(true);
    while (keeper.maintain() !== 'idle');
  };
  return { directory, cache, remove };
}

describe('ThreadKeyCache', () => {
  it('leads all spellings of a key to one cell', () => {
    const { directory, cache } = create(10);
    const cell = cache.lookup(1, 10086);
    for (let again = 0; again < 2; again++) {
      expect(cache.lookup(1, 10086n)).toBe(cell);
      expect(cache.lookup(1, '10086')).toBe(cell);
      expect(cache.lookup(1, 10086)).toBe(cell);
    }
    expect(directory.find(1, '10086')).toBe(cell);
    expect(directory.use().used).toBe(1);
  });

  it('keeps spaces and huge bigints apart', () => {
    const { directory, cache } = create(10);
    const keys = [2n ** 53n, 2n ** 53n + 1n, 2n ** 64n, -(2n ** 53n)];
    const cells = [
      ...keys.map((key) => cache.lookup(0, key)),
      cache.lookup(0, 5),
      cache.lookup(1, 5),
    ];
    expect(new Set(cells).size).toBe(6);
    expect(keys.map((key) => cache.lookup(0, key))).toEqual(cells.slice(0, 4));
    expect(keys.map((key) => directory.find(0, `${key}`))).toEqual(cells.slice(0, 4));
  });

  it.each([7, 7n, 'seven'])(
    'notices that the cell of %s was removed and given to another key',
    (key) => {
      const { directory, cache, remove } = create(1);
      const cell = cache.lookup(0, key);
      expect(cache.lookup(0, key)).toBe(cell);
      remove(cell);
      expect(directory.findOrInsert(0, 'other')).toBe(cell);
      expect(cache.lookup(0, key)).toBe(0);
      remove(cell);
      expect(cache.lookup(0, key)).toBe(cell);
      expect(directory.describe(cell).key).toBe(`${key}`);
    },
  );

  it('remembers nothing of a full directory', () => {
    const { directory, cache, remove } = create(1);
    const cell = cache.lookup(0, 1);
    expect([cache.lookup(0, 2), cache.lookup(0, 'x')]).toEqual([0, 0]);
    expect(directory.use().overflow).toBe(2);
    remove(cell);
    expect(cache.lookup(0, 2)).toBe(cell);
  });

  it('stays right when far more keys than entries pass through', () => {
    const { directory, cache } = create(600, 16);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 300; i++) {
        expect(cache.lookup(2, i)).toBe(directory.find(2, `${i}`));
        expect(cache.lookup(2, `t${i}`)).toBe(directory.find(2, `t${i}`));
      }
    }
  });

  it('names the field of a key that it refuses', () => {
    const { cache } = create(4);
    expect(() => cache.lookup(0, 0.5)).toThrow(
      'table must be a safe integer (or a bigint), got 0.5',
    );
    expect(() => cache.lookup(0, '', 'address')).toThrow(
      `address must be a non-empty string, got ''`,
    );
    expect(() => cache.lookup(0, null as never)).toThrow(TypeError);
    expect(() => cache.lookup(0, Number.NaN)).toThrow(RangeError);
  });

  it.each([0, 3, 1.5])('refuses %s entries', (entries) => {
    expect(() => create(4, entries)).toThrow(
      new RangeError(`entries must be a power of two >= 2, got ${entries}`),
    );
  });
});
