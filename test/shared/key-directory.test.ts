import { describe, expect, it } from 'vitest';
import {
  KEY_DIRECTORY_BYTES_PER_PAIR,
  KeyDirectory,
  keyDirectoryBytes,
} from '../../src/shared/key-directory.js';

const BASE = 128;

function createDirectory(capacity: number): KeyDirectory {
  return new KeyDirectory(
    new SharedArrayBuffer(BASE + keyDirectoryBytes(capacity)),
    BASE,
    capacity,
  );
}

describe('keyDirectoryBytes', () => {
  it.each([128, 1000, 16_384, 100_000, 300_000])(
    'stays within 256 bytes a pair at %i pairs',
    (capacity) => {
      expect(keyDirectoryBytes(capacity) / capacity).toBeLessThanOrEqual(
        KEY_DIRECTORY_BYTES_PER_PAIR,
      );
    },
  );

  it.each([0, -1, 1.5, Number.NaN, 1_048_577, '5' as never])(
    'refuses a capacity of %s',
    (capacity) => {
      expect(() => keyDirectoryBytes(capacity)).toThrow(
        new RangeError(`capacity must be an integer from 1 to 1048576, got ${capacity}`),
      );
    },
  );
});

describe('KeyDirectory', () => {
  it('gives one key one cell, aligned to 16 bytes', () => {
    const directory = createDirectory(100);
    const cell = directory.findOrInsert(3, '10086');
    expect(cell % 16).toBe(0);
    expect(directory.findOrInsert(3, '10086')).toBe(cell);
    expect(directory.find(3, '10086')).toBe(cell);
  });

  it('tells spaces and keys apart', () => {
    const directory = createDirectory(100);
    const cells = [
      directory.findOrInsert(0, '1'),
      directory.findOrInsert(1, '1'),
      directory.findOrInsert(0xffff, '1'),
      directory.findOrInsert(0, '01'),
      directory.findOrInsert(0, '1\0'),
      directory.findOrInsert(0, '1\0\0\0'),
    ];
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.map((cell) => directory.describe(cell))).toEqual([
      { space: 0, key: '1', hashed: false },
      { space: 1, key: '1', hashed: false },
      { space: 0xffff, key: '1', hashed: false },
      { space: 0, key: '01', hashed: false },
      { space: 0, key: '1\0', hashed: false },
      { space: 0, key: '1\0\0\0', hashed: false },
    ]);
  });

  it('does not make what is only looked for', () => {
    const directory = createDirectory(4);
    expect(directory.find(0, 'a')).toBe(0);
    expect(directory.use().used).toBe(0);
  });

  it('is shared by all who open the same buffer', () => {
    const buffer = new SharedArrayBuffer(BASE + keyDirectoryBytes(10));
    const one = new KeyDirectory(buffer, BASE, 10);
    const other = new KeyDirectory(buffer, BASE, 10);
    expect(other.find(1, 'x')).toBe(0);
    const cell = one.findOrInsert(1, 'x');
    expect(other.findOrInsert(1, 'x')).toBe(cell);
  });

  it('fills up to its capacity, then lets calls through uncounted and says so', () => {
    const directory = createDirectory(70);
    const cells = new Set<number>();
    for (let i = 0; i < 70; i++) cells.add(directory.findOrInsert(0, `${i}`));
    expect(cells.size).toBe(70);
    expect(cells.has(0)).toBe(false);
    expect(directory.findOrInsert(0, 'one more')).toBe(0);
    expect(directory.findOrInsert(0, 'and another')).toBe(0);
    expect(directory.findOrInsert(0, '42')).not.toBe(0);
    expect(directory.use()).toEqual({ used: 70, capacity: 70, overflow: 2, migrations: 0 });
  });

  it('works with a single cell', () => {
    const directory = createDirectory(1);
    const cell = directory.findOrInsert(0, 'a');
    expect(directory.findOrInsert(0, 'b')).toBe(0);
    expect(directory.find(0, 'a')).toBe(cell);
  });

  it('keeps keys of 128 bytes whole and hashes longer ones behind a prefix', () => {
    const directory = createDirectory(10);
    const whole = 'k'.repeat(128);
    const longs = [`${whole}1`, `${whole}2`, `${'k'.repeat(111)}é${'k'.repeat(50)}`];
    const cells = [whole, ...longs].map((key) => directory.findOrInsert(0, key));
    expect(new Set(cells).size).toBe(4);
    expect([whole, ...longs].map((key) => directory.find(0, key))).toEqual(cells);
    expect(directory.describe(cells[0] as number)).toEqual({ space: 0, key: whole, hashed: false });
    const described = cells.slice(1).map((cell) => directory.describe(cell));
    expect(described[0]?.key).toMatch(/^k{112}~[0-9a-f]{32}$/);
    expect(described[1]?.key).not.toBe(described[0]?.key);
    expect(described[2]?.key).toMatch(/^k{111}~[0-9a-f]{32}$/);
    expect(described.every(({ hashed }) => hashed)).toBe(true);
  });

  it('does not take a long key for the whole key that spells its block', () => {
    const directory = createDirectory(10);
    const long = directory.findOrInsert(0, 'a'.repeat(200));
    const spelled = directory.describe(long).key;
    expect(directory.findOrInsert(0, spelled)).not.toBe(long);
  });

  it('keeps lone surrogates apart', () => {
    const directory = createDirectory(10);
    const keys = ['\ud800', '\ud801', '\udfff', '\ufffd'];
    const cells = keys.map((key) => directory.findOrInsert(0, key));
    expect(new Set(cells).size).toBe(4);
    expect(cells.map((cell) => directory.describe(cell).key)).toEqual(keys);
  });

  it('visits every live cell once, with its space and count', () => {
    const buffer = new SharedArrayBuffer(BASE + keyDirectoryBytes(100));
    const directory = new KeyDirectory(buffer, BASE, 100);
    const counts = new BigUint64Array(buffer);
    for (let i = 0; i < 80; i++) {
      counts[directory.findOrInsert(i % 3, `${i}`) / 8] = 2n ** 32n + BigInt(i);
    }
    const seen = new Map<string, number>();
    directory.visit((index, generation, space, count) => {
      const { key } = directory.describe(directory.cellAt(index));
      expect(generation & 1).toBe(1);
      expect(directory.indexOf(directory.cellAt(index))).toBe(index);
      expect(space).toBe(Number(key) % 3);
      seen.set(key, count);
    });
    expect(seen.size).toBe(80);
    for (const [key, count] of seen) expect(count).toBe(2 ** 32 + Number(key));
  });

  it('refuses a base that is no multiple of 64', () => {
    expect(() => new KeyDirectory(new SharedArrayBuffer(4096), 8, 4)).toThrow(
      new RangeError('base must be a multiple of 64, got 8'),
    );
  });
});
