import { type KvRecord, sizeOfRecord } from '../../actors/kv/kv-record.js';
import { PackedRecord } from '../../actors/kv/packed-record.js';

/**
 * Records as bytes, on disk and between threads: for each the length of its key and of its value (u32, little-endian;
 * 0xFFFFFFFF: no value), then both. Decoding copies nothing.
 */

const HEAD = 8;
const NO_VALUE = 0xffff_ffff;

export function encodedLength(records: readonly KvRecord[]): number {
  return records.reduce((length, record) => length + HEAD + sizeOfRecord(record), 0);
}

/** Writes the records at `at` and returns where they end. */
export function encodeRecordsInto(
  target: Uint8Array,
  at: number,
  records: readonly KvRecord[],
): number {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  let end = at;
  for (const record of records) {
    if (record instanceof PackedRecord) {
      target.set(record.packed, end);
      end += record.packedLength;
      continue;
    }
    const { key, value } = record;
    view.setUint32(end, key.length, true);
    view.setUint32(end + 4, value === null ? NO_VALUE : value.length, true);
    target.set(key, end + HEAD);
    end += HEAD + key.length;
    if (value !== null) {
      target.set(value, end);
      end += value.length;
    }
  }
  return end;
}

/** In a buffer of its own, so that it can be transferred. */
export function encodeRecords(records: readonly KvRecord[]): Uint8Array<ArrayBuffer> {
  const target = new Uint8Array(encodedLength(records));
  encodeRecordsInto(target, 0, records);
  return target;
}

/** `RangeError` when the bytes are not whole records. */
export function decodeRecords(bytes: Uint8Array): PackedRecord[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: PackedRecord[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + HEAD > bytes.length) throw cut(at);
    const keyLength = view.getUint32(at, true);
    const valueLength = view.getUint32(at + 4, true);
    const keyAt = at + HEAD;
    const valueAt = keyAt + keyLength;
    const isDelete = valueLength === NO_VALUE;
    const end = isDelete ? valueAt : valueAt + valueLength;
    if (end > bytes.length) throw cut(at);
    records.push(new PackedRecord(bytes, at, keyAt, valueAt, end, isDelete));
    at = end;
  }
  return records;
}

function cut(at: number): RangeError {
  return new RangeError(`records are cut off at ${at}`);
}
