/**
 * What a key-value server answers to reads. A few bytes of keys, or a range, may ask for gigabytes: they are read in parts,
 * and no further than an answer may be long.
 */
import { KV_CODES } from '../shared/kv-errors.js';
import type { KvRefusal, KvStore } from '../workers/kv/kv-store.js';
import type { GetKvRequest, GetKvResponse, ScanKvRequest, ScanKvResponse } from './kv-protocol.js';

type Readable = Pick<KvStore, 'get' | 'scan'>;

/** Values that are read before their bytes are counted. */
const KEYS_AT_ONCE = 64;
const ROWS_AT_FIRST = 64;
const MOST_ROWS_AT_ONCE = 256;

const DEFAULT_SCAN_LIMIT = 1000;
const MAX_SCAN_LIMIT = 100_000;
/** Keys and values of a scan's answer, unless its first row has more: clients take 4 MiB unless they are told otherwise. */
const MAX_SCAN_BYTES = 3 * 1024 * 1024;

/** `maxBytes`: of all values. More is refused: there is no half of an answer. */
export async function answerGet(
  store: Readable,
  { table, bucket, keys }: GetKvRequest,
  timeoutMs: number | undefined,
  maxBytes: number,
): Promise<GetKvResponse> {
  const leftMs = countdown(timeoutMs);
  const values: GetKvResponse['values'][number][] = [];
  let bytes = 0;
  // Once without any key, which says whether there is such a bucket.
  for (let at = 0; at === 0 || at < keys.length; at += KEYS_AT_ONCE) {
    const reply = await store.get(table, bucket, keys.slice(at, at + KEYS_AT_ONCE), leftMs());
    if (!reply.ok) return { ...refusal(reply), values: [] };
    for (const value of reply.result) {
      values.push(value === null ? {} : { value });
      bytes += value?.length ?? 0;
    }
    if (bytes > maxBytes) {
      const errorMessage = `the values have more than ${maxBytes} bytes: ask for fewer keys`;
      return { errorCode: KV_CODES.BATCH_TOO_LARGE, errorMessage, values: [] };
    }
  }
  return { errorCode: KV_CODES.NONE, errorMessage: '', values };
}

/** As many rows as were asked for, or as there is room for: `hasMore` tells. */
export async function answerScan(
  store: Readable,
  { table, bucket, start, end, limit }: ScanKvRequest,
  timeoutMs: number | undefined,
): Promise<ScanKvResponse> {
  const leftMs = countdown(timeoutMs);
  const most = limit === 0 ? DEFAULT_SCAN_LIMIT : Math.min(limit, MAX_SCAN_LIMIT);
  const rows: ScanKvResponse['rows'][number][] = [];
  let bytes = 0;
  let from = start;
  let hasMore = true;
  for (let page = ROWS_AT_FIRST; hasMore && rows.length < most; page = MOST_ROWS_AT_ONCE) {
    const range = { start: from, limit: Math.min(page, most - rows.length) };
    const reply = await store.scan(
      table,
      bucket,
      end == null ? range : { ...range, end },
      leftMs(),
    );
    if (!reply.ok) return { ...refusal(reply), rows: [], hasMore: false };
    hasMore = reply.result.hasMore;
    for (const row of reply.result.rows) {
      bytes += row.key.length + row.value.length;
      if (bytes > MAX_SCAN_BYTES && rows.length > 0) return found(rows, true);
      rows.push(row);
    }
    const last = reply.result.rows.at(-1);
    if (last === undefined) break;
    from = after(last.key);
  }
  return found(rows, hasMore);
}

function found(rows: ScanKvResponse['rows'], hasMore: boolean): ScanKvResponse {
  return { errorCode: KV_CODES.NONE, errorMessage: '', rows, hasMore };
}

/** The first key behind `key`. */
function after(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

/** What is left of `timeoutMs` from now on. */
function countdown(timeoutMs: number | undefined): () => number | undefined {
  if (timeoutMs === undefined) return () => undefined;
  const atMs = performance.now() + timeoutMs;
  return () => Math.max(atMs - performance.now(), 0);
}

function refusal({ code, error }: KvRefusal): { errorCode: number; errorMessage: string } {
  return { errorCode: code, errorMessage: error.message };
}
