import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LogThread } from '../../src/workers/kv/log/log-thread.js';
import { tempDirs } from '../adapters/temp-dir.js';

const tempDir = tempDirs();
const built = (await import(
  new URL('../../dist/workers/kv/log/log-thread.js', import.meta.url).href
)) as { LogThread: typeof LogThread };

const open = (dir: string, flushed: readonly (readonly [string, number])[] = []) =>
  built.LogThread.open({
    dir,
    segmentBytes: 16 * 1024 * 1024,
    checkpointBytes: 64 * 1024 * 1024,
    flushed,
    onLong: () => {},
  });

const record = (value: string) => ({ key: Buffer.from('k'), value: Buffer.from(value) });

describe("the log's thread", () => {
  it('commits what comes together as one group, resolves in order, and hands over what stores lack', async () => {
    const dir = tempDir();
    const { log } = await open(dir);
    const order: number[] = [];
    const appends = Array.from({ length: 500 }, (_, i) =>
      log
        .append({ tablet: `t/${i % 2}`, firstLsn: Math.floor(i / 2), records: [record(`${i}`)] })
        .then(() => order.push(i)),
    );
    await Promise.all(appends);
    expect(order).toEqual(Array.from({ length: 500 }, (_, i) => i));
    await log.close();
    await expect(log.append({ tablet: 't/0', firstLsn: 0, records: [] })).rejects.toThrow('closed');
    const [name] = readdirSync(dir);
    const frames =
      readFileSync(join(dir, name as string))
        .toString('latin1')
        .split('FLWP').length - 1;
    // The first goes at once, the others while it is synced; and the mark of a clean end.
    expect(frames).toBeLessThanOrEqual(5);

    const again = await open(dir, [
      ['t/0', 249],
      ['t/1', 250],
    ]);
    expect([...again.found.keys()]).toEqual(['t/0']);
    expect(again.found.get('t/0')?.map(({ firstLsn }) => firstLsn)).toEqual([249]);
    expect(again.cuts).toEqual([]);
    await again.log.close();
  });

  it('says by its class why a log cannot be opened', async () => {
    const dir = tempDir();
    const { log } = await open(dir);
    await log.append({ tablet: 't/0', firstLsn: 0, records: [record('v')] });
    await log.close();
    const [name] = readdirSync(dir);
    const path = join(dir, name as string);
    const bytes = readFileSync(path);
    bytes[70] = (bytes[70] as number) ^ 1;
    writeFileSync(path, bytes);
    await expect(open(dir)).rejects.toMatchObject({ name: 'LogCorruptError', file: path });
  });

  it('opens 100 MB in no more time than it took to write them', async () => {
    const dir = tempDir();
    const { log } = await open(dir);
    const value = randomBytes(4096);
    const records = Array.from({ length: 250 }, (_, i) => ({
      key: Buffer.from(`key ${i}`),
      value,
    }));
    const writeFromMs = performance.now();
    for (let i = 0; i < 100; i += 1) {
      await log.append({ tablet: 't/0', firstLsn: i * 250, records });
    }
    expect(log.bytes).toBeGreaterThan(100_000_000);
    await log.close();
    const startMs = performance.now();
    const writtenMs = startMs - writeFromMs;
    const again = await open(dir);
    const tookMs = performance.now() - startMs;
    expect(again.found.get('t/0')).toHaveLength(100);
    expect(tookMs).toBeLessThan(2 * writtenMs);
    await again.log.close();
  });
});
