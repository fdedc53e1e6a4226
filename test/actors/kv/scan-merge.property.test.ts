import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type KvRecord, keyOfText, textOfKey } from '../../../src/actors/kv/kv-record.js';
import { mergeScan } from '../../../src/actors/kv/scan-merge.js';

const key = fc.uint8Array({ minLength: 1, maxLength: 2 });
const value = fc.uint8Array({ maxLength: 2 });

it('is the first rows of a map that holds the store and the writes above it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(key, value), { maxLength: 30 }),
      fc.array(fc.tuple(key, fc.option(value)), { maxLength: 15 }),
      fc.integer({ min: 1, max: 10 }),
      (stored, written, limit) => {
        const store = new Map<string, Uint8Array>(stored.map(([k, v]) => [textOfKey(k), v]));
        const overlay = new Map<string, KvRecord>(
          written.map(([k, v]) => [textOfKey(k), { key: k, value: v }]),
        );
        // As a tablet asks: one row more for each delete that may hide one.
        const deletes = [...overlay.values()].filter((one) => one.value === null).length;
        const sorted = [...store.keys()].sort();
        const rows = sorted
          .slice(0, limit + deletes)
          .map((text) => ({ key: keyOfText(text), value: store.get(text) as Uint8Array }));
        const got = mergeScan({ rows, isCut: rows.length >= limit + deletes }, overlay, limit);

        for (const [text, { value: newer }] of overlay) {
          if (newer === null) store.delete(text);
          else store.set(text, newer);
        }
        const all = [...store.keys()].sort();
        expect(got.rows.map((row) => textOfKey(row.key))).toEqual(all.slice(0, limit));
        for (const row of got.rows) expect(row.value).toBe(store.get(textOfKey(row.key)));
        if (all.length > limit) expect(got.hasMore).toBe(true);
      },
    ),
  );
});

it('orders keys as their bytes, 128 and more included', () => {
  const texts = [[0], [1, 255], [127], [128], [255]].map((bytes) =>
    textOfKey(Uint8Array.from(bytes)),
  );
  expect([...texts].sort()).toEqual(texts);
  const long = new Uint8Array(10_000).map((_, i) => i % 256);
  expect([...keyOfText(textOfKey(long))]).toEqual([...long]);
});
