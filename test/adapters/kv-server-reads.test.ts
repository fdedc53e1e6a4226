import { expect, it } from 'vitest';
import { answerGet, answerScan } from '../../src/adapters/kv-server-reads.js';

const MIB = 2 ** 20;
const key = (i: number) => Buffer.from(String(i).padStart(6, '0'));

/** A bucket of `count` rows of `bytes` each, which counts what it is asked to have in its hands at a time. */
function storeOf(count: number, bytes: number) {
  const value = new Uint8Array(bytes);
  const most = { values: 0 };
  const hold = (values: number): void => {
    most.values = Math.max(most.values, values);
  };
  const store = {
    async get(_table: string, _bucket: number, keys: readonly Uint8Array[]) {
      hold(keys.length);
      return { ok: true as const, result: keys.map((one) => (Number(one) < count ? value : null)) };
    },
    async scan(_table: string, _bucket: number, range: { start: Uint8Array; limit: number }) {
      const rows = Array.from({ length: count }, (_, i) => ({ key: key(i), value }))
        .filter((row) => Buffer.compare(row.key, range.start) >= 0)
        .slice(0, range.limit);
      hold(rows.length);
      const last = rows.at(-1);
      const hasMore = last !== undefined && Number(last.key) < count - 1;
      return { ok: true as const, result: { rows, hasMore } };
    },
  };
  return { store: store as never, most };
}

const scan = { table: 't', bucket: 0, start: new Uint8Array(0), limit: 0 };

it('reads no more values than an answer may hold, however many are asked for', async () => {
  const { store, most } = storeOf(5000, MIB);
  const keys = Array.from({ length: 5000 }, (_, i) => key(i));
  const answer = await answerGet(store, { table: 't', bucket: 0, keys }, undefined, 8 * MIB);
  expect(answer).toEqual({
    errorCode: 4,
    errorMessage: 'the values have more than 8388608 bytes: ask for fewer keys',
    values: [],
  });
  expect(most.values).toBeLessThanOrEqual(64);
});

it('gets many values in the order of their keys', async () => {
  const { store } = storeOf(150, 3);
  const keys = Array.from({ length: 200 }, (_, i) => key(199 - i));
  const { values } = await answerGet(store, { table: 't', bucket: 0, keys }, 1000, MIB);
  expect(values.map(({ value }) => value?.length ?? 0)).toEqual(
    keys.map((one) => (Number(one) < 150 ? 3 : 0)),
  );
  expect((await answerGet(store, { table: 't', bucket: 0, keys: [] }, 1000, MIB)).values).toEqual(
    [],
  );
});

it('scans no further than an answer may be long, and says that there is more', async () => {
  const { store, most } = storeOf(5000, MIB);
  const { rows, hasMore } = await answerScan(store, { ...scan, limit: 100_000 }, undefined);
  expect([rows.length, hasMore]).toEqual([2, true]);
  expect(most.values).toBeLessThanOrEqual(256);
  const large = storeOf(2, 4 * MIB);
  const first = await answerScan(large.store, scan, undefined);
  expect([first.rows.length, first.hasMore]).toEqual([1, true]);
});

it.each([
  [0, 0],
  [1, 1],
  [63, 63],
  [64, 64],
  [65, 65],
  [999, 999],
  [1000, 1000],
  [1001, 1000],
])('of %d rows scans each once and in order', async (count, wanted) => {
  const { store } = storeOf(count, 10);
  const { rows, hasMore } = await answerScan(store, scan, 1000);
  expect(rows.map((row) => Number(row.key))).toEqual(Array.from({ length: wanted }, (_, i) => i));
  expect(hasMore).toBe(count > wanted);
});
