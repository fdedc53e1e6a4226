import { KV_CODES, type KvErrorCode } from '../../shared/kv-errors.js';
import { type KvRecord, recordBytes } from './kv-record.js';

export interface PutLimits {
  readonly maxKeyBytes: number;
  readonly maxValueBytes: number;
  /** Keys and values of one bucket's batch. */
  readonly maxBatchBytes: number;
  readonly maxBatchRecords: number;
}

export const DEFAULT_PUT_LIMITS: PutLimits = Object.freeze({
  maxKeyBytes: 4096,
  maxValueBytes: 1024 * 1024,
  maxBatchBytes: 4 * 1024 * 1024,
  maxBatchRecords: 100_000,
});

/** Why a batch is not taken; undefined: it is fit to be. */
export function refusePut(
  records: readonly KvRecord[],
  limits: PutLimits,
): { readonly code: KvErrorCode; readonly message: string } | undefined {
  const { maxKeyBytes, maxValueBytes, maxBatchBytes, maxBatchRecords } = limits;
  if (records.length === 0) return invalid('a batch must have a record');
  if (records.length > maxBatchRecords) {
    return tooLarge(`a batch must have at most ${maxBatchRecords} records, got ${records.length}`);
  }
  for (const { key, value } of records) {
    const reason = refuseKey(key, maxKeyBytes);
    if (reason !== undefined) return invalid(reason);
    if (value !== null && value.length > maxValueBytes) {
      return invalid(`a value must have at most ${maxValueBytes} bytes, got ${value.length}`);
    }
  }
  const bytes = recordBytes(records);
  if (bytes <= maxBatchBytes) return undefined;
  return tooLarge(`a batch must have at most ${maxBatchBytes} bytes, got ${bytes}`);
}

/** Why a key is none; undefined: it is one. */
export function refuseKey(key: Uint8Array, maxKeyBytes: number): string | undefined {
  if (key.length === 0) return 'a key must have a byte';
  if (key.length <= maxKeyBytes) return undefined;
  return `a key must have at most ${maxKeyBytes} bytes, got ${key.length}`;
}

function invalid(message: string): { readonly code: KvErrorCode; readonly message: string } {
  return { code: KV_CODES.INVALID_RECORD, message };
}

function tooLarge(message: string): { readonly code: KvErrorCode; readonly message: string } {
  return { code: KV_CODES.BATCH_TOO_LARGE, message };
}
