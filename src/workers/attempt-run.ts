/** Runs one attempt that was let through, and says what it came to. */
import { describeValue } from '../shared/quota.js';
import { isVerdict, type Verdict } from '../shared/verdict.js';
import { type AttemptContext, AttemptScope, type Bound, type ScopeHost } from './attempt-scope.js';
import type { Classifier, Outcome } from './outcome.js';
import { isThenable } from './thenable.js';

export type Attempt<T> = (context: AttemptContext) => Promise<T> | T;

export interface EndedAttempt<T> {
  readonly outcome: Outcome<T>;
  readonly verdict: Verdict;
  /** What the classifier threw; it takes the place of the outcome for the caller. */
  readonly fault: { readonly error: unknown } | undefined;
}

export interface AttemptTerms<T> {
  /** Counts from 1. */
  readonly attempt: number;
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  /** When it is left behind; undefined: never. */
  readonly bound: Bound | undefined;
  readonly classify: Classifier<T>;
  /** It has settled after it was left behind. */
  readonly onLate: () => void;
  /** See {@link AttemptContext.answered}. */
  readonly answered: (() => void) | undefined;
}

/** Always fulfils. */
export async function runAttempt<T>(
  host: ScopeHost,
  attempt: Attempt<T>,
  { attempt: number, signal, bound, classify, onLate, answered }: AttemptTerms<T>,
): Promise<EndedAttempt<T>> {
  let scope: AttemptScope | undefined;
  let outcome: Outcome<T>;
  try {
    let running: Promise<T> | T;
    if (bound === undefined) running = attempt({ attempt: number, signal, answered });
    else {
      scope = new AttemptScope(host, number, signal, onLate, answered);
      running = scope.run(attempt, bound);
    }
    outcome = { ok: true, value: isThenable(running) ? await running : running };
  } catch (error) {
    outcome = { ok: false, error };
  }
  return scope?.left === true
    ? { outcome, verdict: signal?.aborted === true ? 'ignored' : 'failure', fault: undefined }
    : judge(outcome, classify, signal);
}

/** What an outcome means, whatever the classifier does. */
export function judge<T>(
  outcome: Outcome<T>,
  classify: Classifier<T>,
  signal: AbortSignal | undefined,
): EndedAttempt<T> {
  // The caller's own abort is known by its signal, not by the shape of the error.
  if (!outcome.ok && signal?.aborted === true)
    return { outcome, verdict: 'ignored', fault: undefined };
  try {
    const verdict: unknown = classify(outcome);
    if (isVerdict(verdict)) return { outcome, verdict, fault: undefined };
    throw new TypeError(`classify must return a verdict, got ${describeValue(verdict)}`);
  } catch (error) {
    return { outcome, verdict: 'failure', fault: { error: withCause(error, outcome) } };
  }
}

/** Says what led to an error, where it does not say so itself and takes it on. */
export function withCause(error: unknown, cause: unknown): unknown {
  if (error instanceof Error && !Object.hasOwn(error, 'cause') && Object.isExtensible(error)) {
    // As the language defines it: not enumerable.
    Object.defineProperty(error, 'cause', { value: cause, configurable: true, writable: true });
  }
  return error;
}
