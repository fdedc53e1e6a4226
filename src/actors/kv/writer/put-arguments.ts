import { KvRecordError } from '../../../shared/kv-writer-errors.js';
import { describeValue } from '../../../shared/quota.js';
import { type PutLimits, refuseKey } from '../put-limits.js';

/** Why a put can never be right; undefined: it can. */
export function refuseArguments(
  table: string,
  key: Uint8Array,
  value: Uint8Array | null,
  options: { readonly bucket?: number; readonly signal?: AbortSignal } | undefined,
  { maxKeyBytes, maxValueBytes }: Pick<PutLimits, 'maxKeyBytes' | 'maxValueBytes'>,
): Error | undefined {
  if (typeof table !== 'string' || table === '') {
    return new TypeError(`table must be a name, got ${String(table)}`);
  }
  if (!(key instanceof Uint8Array)) {
    return new TypeError(`key must be bytes or a string, got ${describeValue(key)}`);
  }
  if (value !== null && !(value instanceof Uint8Array)) {
    return new TypeError(`value must be bytes or a string, got ${describeValue(value)}`);
  }
  for (const name in options) {
    if (name !== 'bucket' && name !== 'signal') {
      return new TypeError(`${name} is no option, there are bucket, signal`);
    }
  }
  const bucket = options?.bucket;
  if (bucket !== undefined && !(Number.isInteger(bucket) && bucket >= 0 && bucket < 2 ** 32)) {
    return new RangeError(`bucket must be an integer from 0 to 2^32 - 1, got ${String(bucket)}`);
  }
  const signal: unknown = options?.signal;
  if (signal !== undefined && !isSignal(signal)) {
    return new TypeError(`signal must be an AbortSignal, got ${describeValue(signal)}`);
  }
  const badKey = refuseKey(key, maxKeyBytes);
  if (badKey !== undefined) return new KvRecordError(badKey, { storageCode: 3 });
  if (value === null || value.length <= maxValueBytes) return undefined;
  const reason = `a value must have at most ${maxValueBytes} bytes, got ${value.length}`;
  return new KvRecordError(reason, { storageCode: 3 });
}

/** By what is asked of it: it may be of another realm. */
function isSignal(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { aborted, addEventListener } = value as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}
