import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { KvEvent, openKvStore } from '../../src/adapters/kv.js';
import { tempDirs } from '../adapters/temp-dir.js';

const tempDir = tempDirs();
const built = (await import(new URL('../../dist/adapters/kv.js', import.meta.url).href)) as {
  openKvStore: typeof openKvStore;
};
const key = (i: number) => Buffer.from(`k${i}`);

describe('a key-value store', () => {
  it('trims its log behind what the stores have for good, and finds everything when it is opened anew', async () => {
    const dir = tempDir();
    const options = { dir, tables: { t: 2 }, logSegmentBytes: 65_536, logCheckpointBytes: 300_000 };
    const store = await built.openKvStore(options);
    const PUTS = 300;
    for (let i = 0; i < PUTS; i += 1) {
      const records = [{ key: key(i), value: randomBytes(8192) }];
      const completion = i % 50 === 0 ? 'flush' : 'log';
      expect((await store.put('t', i % 2, records, { completion })).code).toBe(0);
    }
    expect(store.stats().logBytes).toBeLessThan(PUTS * 8192);
    expect(readdirSync(join(dir, 'log')).length).toBeLessThan((PUTS * 8192) / 65_536);
    await store.close();
    await store.close();
    expect((await store.put('t', 0, [{ key: key(0), value: null }])).code).toBe(7);

    const again = await built.openKvStore({ dir });
    expect(again.tables()).toEqual({ t: 2 });
    for (let i = 0; i < PUTS; i += 1) {
      const got = await again.get('t', i % 2, [key(i)]);
      expect(got.ok && got.result[0]?.length).toBe(8192);
    }
    await again.close();
  });

  it('fails the bucket whose engine breaks, says so, and serves the others', async () => {
    // Breaks at the first write of the engine whose directory ends with 1.
    const source = `export async function open({ dir }) {
      const rows = new Map();
      const sample = async () => ({ l0Files: 0, stalled: false });
      return {
        triggers: { l0SlowdownWritesTrigger: 0, l0StopWritesTrigger: 0, maxWriteBufferNumber: 8, writeBufferSize: 1 },
        flushedUpTo: 0, sample, stalledMs: async () => 0,
        write: async ({ records }) => {
          if (dir.endsWith('1')) throw new RangeError('broken block');
          for (const { key, value } of records) rows.set(String(key), value);
          return { kind: 'written', sample: await sample() };
        },
        get: async (keys) => keys.map((key) => rows.get(String(key)) ?? null),
        iterate: async () => [], checkpoint: async () => {}, close: async () => {},
      };
    }`;
    const events: KvEvent[] = [];
    const store = await built.openKvStore({
      dir: tempDir(),
      tables: { t: 2 },
      engine: { module: `data:text/javascript,${encodeURIComponent(source)}`, exportName: 'open' },
      onEvent: (event) => events.push(event),
    });
    const records = [{ key: key(1), value: Buffer.from('v') }];
    const [fine, broken] = await Promise.all(
      [0, 1].map((bucket) => store.put('t', bucket, records, { completion: 'flush' })),
    );
    expect(fine).toMatchObject({ code: 0, logEndOffset: 1 });
    expect(broken).toMatchObject({ code: 5, message: 'broken block' });
    expect(events).toMatchObject([{ kind: 'tablet-failed', table: 't', bucket: 1 }]);
    expect((events[0] as { error: unknown }).error).toBeInstanceOf(RangeError);
    expect(await store.status('t', 1)).toMatchObject({ mode: 'failed' });
    expect(await store.get('t', 1, [key(1)])).toMatchObject({ ok: false, code: 5 });
    expect((await store.put('t', 0, records)).code).toBe(0);
    await store.close();
  });

  it('bounds the calls of a bucket that are under way, and answers who does not wait', async () => {
    const store = await built.openKvStore({ dir: tempDir(), tables: { t: 1 }, maxInFlight: 4 });
    const records = [{ key: key(1), value: Buffer.from('v') }];
    const replies = await Promise.all(Array.from({ length: 10 }, () => store.put('t', 0, records)));
    expect(replies.map(({ code }) => code)).toEqual([0, 0, 0, 0, 71, 71, 71, 71, 71, 71]);
    // Either is right for who does not wait, and the call ends either way: a sync may be faster than a timer.
    expect([0, 8]).toContain((await store.put('t', 0, records, { timeoutMs: 0 })).code);
    await store.close();
  });
});
