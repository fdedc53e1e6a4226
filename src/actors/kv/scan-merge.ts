import type { KvRecord, KvRow } from './kv-record.js';
import { keyOfText, textOfKey } from './kv-record.js';
import type { ScanResult } from './tablet-message.js';

/** Writes of a range that are not in the store yet: the newest of each key, by its text. */
export type Overlay = ReadonlyMap<string, KvRecord>;

export interface StoredRows {
  /** In order of their keys. */
  readonly rows: readonly KvRow[];
  /** The store may have more after the last one. */
  readonly isCut: boolean;
}

/**
 * Rows of the store under those that are newer, the first `limit` of them. Where the store's rows were cut off nothing
 * beyond is told, because what lies there is not known.
 */
export function mergeScan(stored: StoredRows, overlay: Overlay, limit: number): ScanResult {
  const merged = new Map<string, Uint8Array | null>();
  for (const { key, value } of stored.rows) merged.set(textOfKey(key), value);
  const last = stored.rows.at(-1);
  const horizon = stored.isCut && last !== undefined ? textOfKey(last.key) : undefined;
  for (const [text, { value }] of overlay) {
    if (horizon === undefined || text <= horizon) merged.set(text, value);
  }
  const rows: KvRow[] = [];
  let hasMore = stored.isCut;
  for (const text of [...merged.keys()].sort()) {
    const value = merged.get(text);
    if (value === null || value === undefined) continue;
    if (rows.length === limit) {
      hasMore = true;
      break;
    }
    rows.push({ key: keyOfText(text), value });
  }
  return { rows, hasMore };
}
