import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRocksDbEngine, parseStall } from '../../src/adapters/rocksdb.js';
import { ConfigError } from '../../src/shared/errors.js';
import { DirectoryInUseError } from '../../src/shared/kv-errors.js';
import { tempDirs } from './temp-dir.js';

const tempDir = tempDirs();
const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (value: Uint8Array | null | undefined): string | null =>
  value == null ? null : Buffer.from(value).toString();

describe('the RocksDB engine', () => {
  it('writes a batch with its offset, reads it back, and knows both after it is opened anew', async () => {
    const dir = join(tempDir(), 'store');
    const engine = await openRocksDbEngine({ dir });
    expect(engine.flushedUpTo).toBe(0);
    const outcome = await engine.write({
      records: [
        { key: bytes('a'), value: bytes('1') },
        { key: bytes('b'), value: bytes('') },
        { key: Uint8Array.of(0), value: bytes('zero') },
        { key: bytes('a'), value: bytes('2') },
        { key: bytes('b'), value: null },
        { key: bytes('c'), value: bytes('') },
      ],
      flushedUpTo: 2 ** 40,
    });
    expect(outcome).toEqual({ kind: 'written', sample: { l0Files: 0, stalled: false } });
    await engine.close();

    const again = await openRocksDbEngine({ dir });
    expect(again.flushedUpTo).toBe(2 ** 40);
    const got = await again.get(['a', 'b', 'c', '\0'].map(bytes));
    expect(got.map(text)).toEqual(['2', null, '', 'zero']);
    await again.checkpoint();
    expect(await again.sample()).toEqual({ l0Files: 1, stalled: false });
    await again.close();
  });

  it('iterates in the order of bytes, without its own keys', async () => {
    const engine = await openRocksDbEngine({ dir: join(tempDir(), 'store') });
    const keys = [[0], [0, 0], [1], [127], [128], [255], [255, 255]].map((key) =>
      Uint8Array.from(key),
    );
    const records = keys.map((key) => ({ key, value: key }));
    await engine.write({ records: [...records].reverse(), flushedUpTo: 7 });
    const all = await engine.iterate({ start: new Uint8Array(0), limit: 100 });
    expect(all.map(({ key }) => [...key])).toEqual(keys.map((key) => [...key]));
    const some = await engine.iterate({
      start: Uint8Array.of(1),
      end: Uint8Array.of(255),
      limit: 2,
    });
    expect(some.map(({ key }) => [...key])).toEqual([[1], [127]]);
    await engine.close();
  });

  it('reads more rows than one call into the iterator fetches', async () => {
    const engine = await openRocksDbEngine({ dir: join(tempDir(), 'store') });
    const records = Array.from({ length: 3000 }, (_, i) => ({
      key: bytes(String(i).padStart(5, '0')),
      value: bytes(String(i)),
    }));
    await engine.write({ records, flushedUpTo: 3000 });
    const rows = await engine.iterate({ start: bytes(''), limit: 2500 });
    expect(rows.map(({ value }) => text(value))).toEqual(
      records.slice(0, 2500).map(({ value }) => text(value)),
    );
    await engine.close();
  });

  it('refuses a write that would be held up, and never reaches its own slowdown trigger', async () => {
    const engine = await openRocksDbEngine({
      dir: join(tempDir(), 'store'),
      writeBufferSize: 65_536,
      maxBackgroundJobs: 1,
    });
    let refused = 0;
    let maxL0 = 0;
    for (let i = 0; i < 1500; i += 1) {
      const records = Array.from({ length: 8 }, () => ({
        key: randomBytes(16),
        value: randomBytes(4096),
      }));
      const { kind, sample } = await engine.write({ records, flushedUpTo: i + 1 });
      maxL0 = Math.max(maxL0, sample.l0Files);
      // A retry at once, against any backoff: the store is pressed as hard as it gets.
      if (kind === 'refused') refused += 1;
    }
    expect(refused).toBeGreaterThan(0);
    expect(maxL0).toBeLessThan(20);
    expect(await engine.stalledMs()).toBe(0);
    await engine.close();
  });

  it('tells how long writers were held up', async () => {
    expect(parseStall('x\nCumulative stall: 01:02:3.500 H:M:S, 47.4 percent\n')).toBe(3_723_500);
    expect(parseStall('nothing of the kind')).toBe(0);
    const engine = await openRocksDbEngine({ dir: join(tempDir(), 'store') });
    expect(await engine.stalledMs()).toBe(0);
    await engine.close();
  });

  it('refuses a directory that is in use, and options that leave nothing to tell', async () => {
    const dir = join(tempDir(), 'store');
    const engine = await openRocksDbEngine({ dir });
    await expect(openRocksDbEngine({ dir })).rejects.toThrow(DirectoryInUseError);
    await engine.close();
    await expect(openRocksDbEngine({ dir, maxWriteBufferNumber: 3 })).rejects.toThrow(
      'maxWriteBufferNumber must be an integer >= 4, got 3',
    );
    await expect(openRocksDbEngine({ dir, writeBufferSize: Number.NaN })).rejects.toThrow(
      ConfigError,
    );
  });
});
