/** What an attempt came to, and what that means for the downstream. */
import { BusyError } from '../shared/errors.js';

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/**
 * - `success`: answered.
 * - `busy`: the downstream says that it is overloaded; slows the hottest tables.
 * - `failure`: no answer, or an internal error.
 * - `refused`: turned away with a hint when to come back; not a sign of overload by itself.
 * - `ignored`: says nothing about the downstream: cancelled by the caller, refused locally, a business error.
 */
export type Verdict =
  | 'success'
  | 'busy'
  | 'failure'
  | 'ignored'
  | { readonly kind: 'refused'; readonly retryAfterMs: number };

/** Must not throw; what it throws is reported to the caller of `gate.call` in place of the outcome. */
export type Classifier<T = unknown> = (outcome: Outcome<T>) => Verdict;

/** A {@link BusyError} is busy, any other error a failure. Adapters bring their own. */
export function classifyByError(outcome: Outcome<unknown>): Verdict {
  if (outcome.ok) return 'success';
  return outcome.error instanceof BusyError ? 'busy' : 'failure';
}
