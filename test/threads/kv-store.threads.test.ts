import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, symlinkSync } from 'node:fs';
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

  it('bounds the calls of a bucket that are under way', async () => {
    const store = await built.openKvStore({ dir: tempDir(), tables: { t: 1 }, maxInFlight: 4 });
    const records = [{ key: key(1), value: Buffer.from('v') }];
    const replies = await Promise.all(Array.from({ length: 10 }, () => store.put('t', 0, records)));
    expect(replies.map(({ code }) => code)).toEqual([0, 0, 0, 0, 71, 71, 71, 71, 71, 71]);
    await store.close();
  });

  it('says which option of a call is wrong, and takes nothing', async () => {
    const store = await built.openKvStore({ dir: tempDir(), tables: { t: 1 } });
    const records = [{ key: key(1), value: key(1) }];
    for (const timeoutMs of [Number.NaN, -1, '5', 2 ** 31, Number.POSITIVE_INFINITY, null]) {
      const options = { timeoutMs: timeoutMs as number };
      const message = expect.stringMatching(
        /^timeoutMs must be a number from 0 to 2147483647, got /,
      );
      expect(await store.put('t', 0, records, options)).toEqual({ code: 3, message, pressure: 0 });
      const reads = [
        await store.get('t', 0, [key(1)], options.timeoutMs),
        await store.scan('t', 0, { start: key(0), limit: 1 }, options.timeoutMs),
      ];
      expect(reads).toMatchObject([
        { ok: false, code: 3, error: { message } },
        { ok: false, code: 3, error: { message } },
      ]);
    }
    const options = { completion: 'x' as 'log' };
    expect((await store.put('t', 0, records, options)).message).toBe(
      "completion must be 'log' or 'flush', got 'x'",
    );
    const got = await store.get('t', 0, [key(1)]);
    expect(got.ok && got.result).toEqual([null]);
    await store.close();
  });

  it('answers in time who waits for a store that does not answer, keeps what it logged, and frees the call', async () => {
    // A write waits until somebody asks for the key `go`.
    const source = `export async function open() {
      const sample = async () => ({ l0Files: 0, stalled: false });
      let go;
      const gate = new Promise((resolve) => { go = resolve; });
      return {
        triggers: { l0SlowdownWritesTrigger: 0, l0StopWritesTrigger: 0, maxWriteBufferNumber: 8, writeBufferSize: 1 },
        flushedUpTo: 0, sample, stalledMs: async () => 0,
        write: async () => { await gate; return { kind: 'written', sample: await sample() }; },
        get: async (keys) => keys.map((key) => { if (String.fromCharCode(...key) === 'go') go(); return null; }),
        iterate: async () => [], checkpoint: async () => {}, close: async () => {},
      };
    }`;
    const store = await built.openKvStore({
      dir: tempDir(),
      tables: { t: 1 },
      maxInFlight: 2,
      engine: { module: `data:text/javascript,${encodeURIComponent(source)}`, exportName: 'open' },
    });
    const records = [{ key: key(1), value: Buffer.from('v') }];
    const flush = { completion: 'flush' } as const;
    for (const timeoutMs of [0, 1, 20]) {
      const late = await store.put('t', 0, records, { ...flush, timeoutMs });
      expect(late).toMatchObject({ code: 8, pressure: 0 });
      expect(late.logEndOffset).toBeUndefined();
    }
    // In the log all the same, and read.
    expect((await store.put('t', 0, records)).logEndOffset).toBe(4);
    expect(await store.get('t', 0, [key(1)])).toMatchObject({ ok: true, result: [{}] });
    const waiting = store.put('t', 0, records, flush);
    const others = await Promise.all([1, 2].map(() => store.put('t', 0, records)));
    expect(others.map(({ code }) => code)).toEqual([0, 71]);
    expect(store.stats().tables[0]).toMatchObject({ flushedRecords: 0, preWriteEntries: 6 });
    // Both are messages to the bucket, so it closes before the write is answered.
    const go = store.get('t', 0, [Buffer.from('go')]);
    const closing = store.close();
    expect((await waiting).code).toBe(7);
    await Promise.all([go, closing]);
  });

  it('refuses what a full disk has no room for, keeps nothing of it, and goes on', async () => {
    const dir = tempDir();
    const options = { dir, tables: { t: 2 }, logSegmentBytes: 4096 };
    const store = await built.openKvStore(options);
    const big = (text: string) => [{ key: key(1), value: Buffer.from(text.repeat(5000)) }];
    expect((await store.put('t', 0, big('a'))).code).toBe(0);
    // Where the next segment goes stands a device on which every write finds the disk full.
    const [first = ''] = readdirSync(join(dir, 'log'));
    const frames = statSync(join(dir, 'log', first)).size - 32;
    symlinkSync('/dev/full', join(dir, 'log', `${frames.toString(16).padStart(16, '0')}.log`));
    const refused = await Promise.all([0, 1].map((bucket) => store.put('t', bucket, big('b'))));
    const full = refused.filter(({ code }) => code === 6);
    expect(full.length).toBeGreaterThan(0);
    for (const { message } of full) expect(message).toContain('ENOSPC');
    expect((await store.put('t', 0, big('c'))).code).toBe(0);
    expect((await store.put('t', 1, big('d'))).code).toBe(0);
    await store.close();
    const again = await built.openKvStore(options);
    const found = [];
    for (const bucket of [0, 1]) {
      const reply = await again.get('t', bucket, [key(1)]);
      if (reply.ok) found.push(String(reply.result[0]?.[0]));
    }
    expect(found).toEqual(['99', '100']);
    await again.close();
  });
});
