/** Checks of what callers say about their waits; each message names the field, the rule and what came. */
import { describeValue } from '../shared/quota.js';

/** Longest wait in ms that can be asked for: a day. */
export const LONGEST_WAIT_MS = 86_400_000;

export function checkMaxWait(maxWaitMs: number | undefined): number | undefined {
  if (maxWaitMs === undefined) return undefined;
  if (typeof maxWaitMs !== 'number')
    throw new TypeError(`maxWaitMs must be a number, got ${describeValue(maxWaitMs)}`);
  if (!(maxWaitMs >= 0 && maxWaitMs <= LONGEST_WAIT_MS)) {
    throw new RangeError(`maxWaitMs must be from 0 to ${LONGEST_WAIT_MS}, got ${maxWaitMs}`);
  }
  return maxWaitMs;
}

export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  if (typeof signal !== 'object' || typeof signal.addEventListener !== 'function') {
    throw new TypeError(`signal must be an AbortSignal, got ${describeValue(signal)}`);
  }
  return signal;
}
