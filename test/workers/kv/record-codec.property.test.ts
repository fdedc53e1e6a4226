import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDelete, recordBytes, sizeOfRecord } from '../../../src/actors/kv/kv-record.js';
import {
  decodeRecords,
  encodedLength,
  encodeRecords,
  encodeRecordsInto,
} from '../../../src/workers/kv/record-codec.js';

const record = fc.record({
  key: fc.uint8Array({ maxLength: 40 }),
  value: fc.option(fc.uint8Array({ maxLength: 40 })),
});

describe('records as bytes', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 20 }), (records) => {
        const bytes = encodeRecords(records);
        expect(bytes.length).toBe(encodedLength(records));
        const got = decodeRecords(bytes);
        expect(got.map(({ key, value }) => [[...key], value && [...value]])).toEqual(
          records.map(({ key, value }) => [[...key], value && [...value]]),
        );
      }),
    );
  });

  it('are told the same way before and after, and packed anew as they lie', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 20 }), fc.nat(20), (records, from) => {
        const decoded = decodeRecords(encodeRecords(records));
        expect(decoded.map(sizeOfRecord)).toEqual(records.map(sizeOfRecord));
        expect(decoded.map(isDelete)).toEqual(records.map(isDelete));
        expect(recordBytes(decoded)).toBe(recordBytes(records));
        // Mixed with others, and from the middle of what they lie in.
        const mixed = [...decoded.slice(from), ...records];
        expect([...encodeRecords(mixed)]).toEqual([
          ...encodeRecords([...records.slice(from), ...records]),
        ]);
      }),
    );
  });

  it('are written where they are asked to be', () => {
    const records = [{ key: Uint8Array.of(1), value: Uint8Array.of(2, 3) }];
    const target = new Uint8Array(20).fill(9);
    expect(encodeRecordsInto(target.subarray(2), 1, records)).toBe(12);
    expect([...target.subarray(0, 3)]).toEqual([9, 9, 9]);
    expect([...target.subarray(11, 14)]).toEqual([1, 2, 3]);
    expect(target[14]).toBe(9);
  });

  it('that are cut off are refused', () => {
    fc.assert(
      fc.property(record, fc.nat(), (one, at) => {
        const bytes = encodeRecords([one]);
        const cut = at % bytes.length;
        if (cut > 0) expect(() => decodeRecords(bytes.subarray(0, cut))).toThrow(RangeError);
      }),
    );
  });
});
