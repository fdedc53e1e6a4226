/** What an outcome means where nobody else says it. */
import { isSpillwayError } from './errors.js';
import type { Verdict } from './verdict.js';

/** Said here, not by the downstream: tells nothing about it. */
const LOCAL_REFUSALS: ReadonlySet<string> = new Set([
  'ERR_SPILLWAY_RATE_LIMIT_EXCEEDED',
  'ERR_SPILLWAY_CIRCUIT_OPEN',
  'ERR_SPILLWAY_RUNTIME_CLOSED',
  'ERR_SPILLWAY_NO_RUNTIME',
  'ERR_SPILLWAY_UNKNOWN_RPC',
  'ERR_SPILLWAY_CONFIG',
  'ERR_SPILLWAY_KV_BUFFER_FULL',
  'ERR_SPILLWAY_KV_RECORD',
  'ERR_SPILLWAY_KV_WRITER_CLOSED',
]);

/**
 * A `BusyError` is busy, with its hint if it has one; a `StorageBackpressureError` is busy with the pressure of a hard
 * rejection; what this package refused is ignored; any other error is a failure.
 * Adapters bring their own.
 */
export function classifyByError(
  outcome:
    | { readonly ok: true; readonly value?: unknown }
    | { readonly ok: false; readonly error: unknown },
): Verdict {
  if (outcome.ok) return 'success';
  const { error } = outcome;
  if (!isSpillwayError(error)) return 'failure';
  if (error.code === 'ERR_SPILLWAY_STORAGE_BACKPRESSURE') return { kind: 'busy', pressure: 1 };
  if (error.code !== 'ERR_SPILLWAY_BUSY') {
    return LOCAL_REFUSALS.has(error.code) ? 'ignored' : 'failure';
  }
  const { retryAfterMs } = error as { readonly retryAfterMs?: unknown };
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0
    ? { kind: 'busy', retryAfterMs }
    : 'busy';
}
