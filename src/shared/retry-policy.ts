/**
 * Whether another attempt follows, and after how long. Exponential backoff with full jitter (M. Brooker, "Exponential
 * Backoff And Jitter", 2015): evenly spread from 0 to base x 2^(attempts so far - 1), capped. A hint of the downstream is
 * a lower bound, and the jitter comes on top, so that those who were told the same do not come back together.
 */
import {
  hintOf,
  type RetriableKind,
  type Verdict,
  type VerdictKind,
  verdictKind,
} from './verdict.js';

export interface RetryTerms {
  /** Attempts of one call, the first included; 1: no retries. */
  readonly maxAttempts: number;
  /** Upper bound of the first backoff, ms. */
  readonly baseDelayMs: number;
  /** Upper bound of every backoff, ms. */
  readonly maxDelayMs: number;
  /** Longest hint that is waited for, ms: a longer one ends the retrying. */
  readonly maxRetryAfterMs: number;
  /** Verdicts that another attempt may follow. */
  readonly on: readonly RetriableKind[];
}

/** Why no attempt follows. `budget` is said by who keeps the budget. */
export type RetryStop = 'verdict' | 'attempts' | 'hint' | 'deadline' | 'budget';

export type RetryDecision =
  | { readonly kind: 'retry'; readonly afterMs: number }
  | { readonly kind: 'stop'; readonly reason: RetryStop };

export interface Attempted {
  /** Attempts so far, from 1. */
  readonly attempt: number;
  readonly verdict: Verdict;
  /** Until the deadline of the whole call, ms; Infinity where there is none. */
  readonly leftMs: number;
}

/** `random` is from [0, 1). A wait that would last until the deadline or beyond is not begun. */
export function decideRetry(
  { attempt, verdict, leftMs }: Attempted,
  terms: RetryTerms,
  random: number,
): RetryDecision {
  const kind = verdictKind(verdict);
  if (!(terms.on as readonly VerdictKind[]).includes(kind))
    return { kind: 'stop', reason: 'verdict' };
  if (attempt >= terms.maxAttempts) return { kind: 'stop', reason: 'attempts' };
  const hintMs = hintOf(verdict) ?? 0;
  if (hintMs > terms.maxRetryAfterMs) return { kind: 'stop', reason: 'hint' };
  const afterMs = hintMs + random * backoffBoundMs(attempt, terms);
  if (afterMs >= leftMs) return { kind: 'stop', reason: 'deadline' };
  return { kind: 'retry', afterMs };
}

/** Upper bound of the backoff after the given number of attempts, ms. */
export function backoffBoundMs(
  attempts: number,
  { baseDelayMs, maxDelayMs }: Pick<RetryTerms, 'baseDelayMs' | 'maxDelayMs'>,
): number {
  // Infinity for very many attempts, but 0 x Infinity is none.
  return baseDelayMs === 0 ? 0 : Math.min(baseDelayMs * 2 ** (attempts - 1), maxDelayMs);
}
