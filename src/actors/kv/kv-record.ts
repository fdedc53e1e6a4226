import { PackedRecord } from './packed-record.js';

/** A put, or with `value` null a delete. The bytes are not copied: whoever gives them must leave them alone. */
export interface KvRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

export interface KvRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Bytes of keys and values. */
export function recordBytes(records: readonly KvRecord[]): number {
  return records.reduce((sum, record) => sum + sizeOfRecord(record), 0);
}

/** Bytes of key and value. */
export function sizeOfRecord(record: KvRecord): number {
  if (record instanceof PackedRecord) return record.size;
  return record.key.length + (record.value?.length ?? 0);
}

export function isDelete(record: KvRecord): boolean {
  return record instanceof PackedRecord ? record.isDelete : record.value === null;
}

/** What `apply` takes at once on every engine. */
const CHUNK = 4096;

/** One character per byte, so that strings compare as their bytes do, and a map can hold them. */
export function textOfKey(key: Uint8Array): string {
  if (key.length <= CHUNK) return textOfChunk(key);
  let text = '';
  for (let at = 0; at < key.length; at += CHUNK) {
    text += textOfChunk(key.subarray(at, at + CHUNK));
  }
  return text;
}

/** By `apply`, which reads the bytes as they lie; a spread would iterate over them, at four times the cost. */
function textOfChunk(bytes: Uint8Array): string {
  return String.fromCharCode.apply(undefined, bytes as unknown as number[]);
}

export function keyOfText(text: string): Uint8Array {
  const key = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) key[i] = text.charCodeAt(i);
  return key;
}
