/** What a caller of a store may ask for, beside records and keys. A store answers instead of throwing. */
import { describeValue } from '../../shared/quota.js';

/** Timers of Node hold no more. */
const MOST_MS = 2 ** 31 - 1;

/** Why `timeoutMs` cannot be used; undefined: it can. */
export function refuseTimeout(timeoutMs: unknown): string | undefined {
  if (timeoutMs === undefined) return undefined;
  if (typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= MOST_MS) return undefined;
  return `timeoutMs must be a number from 0 to ${MOST_MS}, got ${describeValue(timeoutMs)}`;
}

/** Why `completion` cannot be used; undefined: it can. */
export function refuseCompletion(completion: unknown): string | undefined {
  if (completion === 'log' || completion === 'flush') return undefined;
  return `completion must be 'log' or 'flush', got ${describeValue(completion)}`;
}
