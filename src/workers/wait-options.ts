/** Checks of what callers say about their waits; each message names the field, the rule and what came. */
import { describeValue } from '../shared/quota.js';

/** Longest wait in ms that can be asked for: a day. */
export const LONGEST_WAIT_MS = 86_400_000;

export function checkMaxWait(maxWaitMs: number | undefined): number | undefined {
  return checkMs(maxWaitMs, 'maxWaitMs');
}

/** A length of time in ms, at most {@link LONGEST_WAIT_MS}; undefined is left to the configuration. */
export function checkMs(ms: number | undefined, field: string): number | undefined {
  if (ms === undefined) return undefined;
  if (typeof ms !== 'number')
    throw new TypeError(`${field} must be a number, got ${describeValue(ms)}`);
  if (!(ms >= 0 && ms <= LONGEST_WAIT_MS)) {
    throw new RangeError(`${field} must be from 0 to ${LONGEST_WAIT_MS}, got ${ms}`);
  }
  return ms;
}

export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  if (
    typeof signal !== 'object' ||
    typeof signal.addEventListener !== 'function' ||
    typeof signal.throwIfAborted !== 'function'
  ) {
    throw new TypeError(`signal must be an AbortSignal, got ${describeValue(signal)}`);
  }
  return signal;
}
