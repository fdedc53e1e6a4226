import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RowChange, rowDiff } from '../../../src/actors/kv/flush-segment.js';
import { PreWriteBuffer } from '../../../src/actors/kv/pre-write-buffer.js';

interface Row {
  key: string;
  value: string | null;
  lsn: number;
  change: RowChange;
}

const bytesOf = (key: string, value: string | null): number => key.length + (value?.length ?? 0);
const size = (rows: readonly Row[]): number =>
  rows.reduce((sum, row) => sum + bytesOf(row.key, row.value), 0);
const diff = (rows: readonly Row[]): number =>
  rows.reduce((sum, row) => sum + rowDiff(row.change), 0);

const keys = ['a', 'b', 'cc', 'ddd'];
const put = fc.record({
  op: fc.constant('put' as const),
  key: fc.constantFrom(...keys),
  value: fc.option(fc.constantFrom('1', '22', '333333')),
  gap: fc.integer({ min: 1, max: 3 }),
  change: fc.constantFrom<RowChange>('insert', 'update', 'delete'),
});
const other = fc.record({
  op: fc.constantFrom(
    ...(['prepare', 'prepare', 'split', 'complete', 'completeAll', 'abort', 'truncate'] as const),
  ),
  offset: fc.nat(8),
  n: fc.integer({ min: 1, max: 4 }),
});

describe('the pre-write buffer', () => {
  it('is what a plain list of rows is, whatever is done to it', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(put, put, other), { maxLength: 120 }), (steps) => {
        const buffer = new PreWriteBuffer<string>({ bytesOf });
        let rows: Row[] = [];
        let prepared = 0;
        let segments: number[] = [];
        const first = (): number => rows[0]?.lsn ?? 0;
        for (const step of steps) {
          if (step.op === 'put') {
            const lsn = (rows.at(-1)?.lsn ?? -1) + step.gap;
            buffer.put(step.key, step.value, lsn, step.change);
            rows.push({ key: step.key, value: step.value, lsn, change: step.change });
          } else if (step.op === 'prepare') {
            const upTo = first() + step.offset;
            const taken = rows.filter((row) => row.lsn < upTo);
            if (prepared > 0 && taken.length > 0) {
              expect(() => buffer.prepare(upTo)).toThrow('prepared already');
            } else {
              const got = buffer.prepare(upTo);
              expect(got).toEqual({ count: taken.length, rowCountDiff: diff(taken) + 0 });
              if (prepared === 0) {
                prepared = taken.length;
                segments = [];
              }
            }
          } else if (step.op === 'split') {
            const cut = buffer.split({ maxBytes: step.offset, maxRecords: step.n });
            segments = cut.map(({ count }) => count);
            expect(segments.reduce((sum, count) => sum + count, 0)).toBe(prepared);
            let at = 0;
            for (const [i, { count, upTo, rowCountDiff }] of cut.entries()) {
              const part = rows.slice(at, at + count);
              at += count;
              expect(rowCountDiff).toBe(diff(part));
              expect(count).toBeLessThanOrEqual(step.n);
              if (count > 1 && step.offset > 0) {
                expect(size(part)).toBeLessThanOrEqual(step.offset);
              }
              if (i < cut.length - 1) {
                // As long as it could be: one more would have been too much.
                const longer = rows.slice(at - count, at + 1);
                const isFull =
                  longer.length > step.n || (step.offset > 0 && size(longer) > step.offset);
                expect(isFull).toBe(true);
                expect(upTo).toBe(rows[at]?.lsn);
              }
            }
          } else if (step.op === 'complete') {
            const n = Math.min(step.n, segments.length);
            const count = segments.splice(0, n).reduce((sum, one) => sum + one, 0);
            const done = rows.slice(0, count);
            expect(buffer.complete(n).rowCountDiff).toBe(diff(done));
            rows = rows.slice(count);
            prepared -= count;
          } else if (step.op === 'completeAll') {
            expect(buffer.complete().rowCountDiff).toBe(diff(rows.slice(0, prepared)));
            rows = rows.slice(prepared);
            prepared = 0;
            segments = [];
          } else if (step.op === 'abort') {
            buffer.abort();
            prepared = 0;
            segments = [];
          } else {
            const lsn = first() + step.offset;
            const kept = rows.filter((row) => row.lsn < lsn);
            if (kept.length < prepared) {
              expect(() => buffer.truncate(lsn, 'error')).toThrow('prepared');
            } else {
              buffer.truncate(lsn, 'error');
              rows = kept;
            }
          }
          expect(buffer.entries).toBe(rows.length);
          expect(buffer.pendingBytes).toBe(size(rows));
          expect(buffer.maxLsn).toBe(rows.at(-1)?.lsn ?? -1);
          expect(buffer.prepared().map(({ lsn }) => lsn)).toEqual(
            rows.slice(0, prepared).map(({ lsn }) => lsn),
          );
          for (const key of keys) {
            expect(buffer.get(key)).toBe(rows.filter((row) => row.key === key).at(-1)?.value);
          }
          expect([...buffer.newest()].length).toBe(new Set(rows.map(({ key }) => key)).size);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('forgets completed entries, also of a key that is written for ever', () => {
    const buffer = new PreWriteBuffer<string>({ bytesOf });
    for (let lsn = 0; lsn < 20_000; lsn += 1) {
      buffer.put('hot', String(lsn), lsn, 'update');
      if (lsn % 10 === 9) {
        buffer.prepare(lsn);
        buffer.complete();
      }
    }
    expect(buffer.entries).toBe(1);
    buffer.truncate(0, 'duplicated');
    expect(buffer.get('hot')).toBeUndefined();
    expect(buffer.truncated).toEqual({ duplicated: 1, error: 0 });
  });

  it('refuses bad limits and numbers by name', () => {
    const buffer = new PreWriteBuffer<string>({ bytesOf });
    expect(() => buffer.put('a', '1', 1.5, 'insert')).toThrow(
      'lsn must be an integer above -1, got 1.5',
    );
    expect(() => buffer.split({ maxBytes: 0, maxRecords: 0 })).toThrow(
      'maxRecords must be an integer >= 1, got 0',
    );
    expect(() => buffer.complete(1)).toThrow('segments must be an integer from 0 to 0, got 1');
  });
});
