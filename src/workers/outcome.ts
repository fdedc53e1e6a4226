/** What an attempt came to, and who says what that means for the downstream. */
import { BusyError } from '../shared/errors.js';
import type { Verdict } from '../shared/verdict.js';

export type { Verdict };

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/**
 * Says what an outcome means. One that throws, or says something else, makes the outcome a failure for the circuit
 * breaker, and `gate.call` rejects with what was thrown, the outcome as its `cause`.
 */
export type Classifier<T = unknown> = (outcome: Outcome<T>) => Verdict;

/** A {@link BusyError} is busy, for as long as it says if it does; any other error is a failure. Adapters bring their own. */
export function classifyByError(outcome: Outcome<unknown>): Verdict {
  if (outcome.ok) return 'success';
  const { error } = outcome;
  if (!(error instanceof BusyError)) return 'failure';
  const { retryAfterMs } = error;
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0
    ? { kind: 'busy', retryAfterMs }
    : 'busy';
}
