/** What an attempt came to, and who says what that means for the downstream. */
import type { Verdict } from '../shared/verdict.js';

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/**
 * Says what an outcome means. One that throws, or says something else, makes the outcome a failure for the circuit
 * breaker, and `gate.call` rejects with what was thrown, the outcome as its `cause`.
 */
export type Classifier<T = unknown> = (outcome: Outcome<T>) => Verdict;
