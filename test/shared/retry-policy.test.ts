import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffBoundMs, decideRetry, type RetryTerms } from '../../src/shared/retry-policy.js';
import type { Verdict } from '../../src/shared/verdict.js';

const TERMS: RetryTerms = {
  maxAttempts: 4,
  baseDelayMs: 50,
  maxDelayMs: 150,
  maxRetryAfterMs: 1000,
  on: ['busy', 'refused', 'failure'],
};
const NEVER = Number.POSITIVE_INFINITY;

function decide(attempt: number, verdict: Verdict, random = 0.5, leftMs = NEVER, terms = TERMS) {
  return decideRetry({ attempt, verdict, leftMs }, terms, random);
}

describe('decideRetry', () => {
  it('doubles the bound of the backoff with each attempt, up to the cap', () => {
    expect([1, 2, 3].map((attempt) => decide(attempt, 'failure', 0.999))).toEqual([
      { kind: 'retry', afterMs: 0.999 * 50 },
      { kind: 'retry', afterMs: 0.999 * 100 },
      { kind: 'retry', afterMs: 0.999 * 150 },
    ]);
  });

  it('spreads from 0: the jitter is full', () => {
    expect(decide(3, 'failure', 0)).toEqual({ kind: 'retry', afterMs: 0 });
  });

  it('stops after the last attempt', () => {
    expect(decide(4, 'failure')).toEqual({ kind: 'stop', reason: 'attempts' });
    expect(decide(1, 'failure', 0.5, NEVER, { ...TERMS, maxAttempts: 1 })).toEqual({
      kind: 'stop',
      reason: 'attempts',
    });
  });

  it('retries what it is told to, and never a success or what says nothing', () => {
    const stop = { kind: 'stop', reason: 'verdict' };
    expect(decide(1, 'success')).toEqual(stop);
    expect(decide(1, 'ignored')).toEqual(stop);
    expect(decide(1, 'busy').kind).toBe('retry');
    expect(decide(1, 'busy', 0.5, NEVER, { ...TERMS, on: ['failure'] })).toEqual(stop);
    expect(decide(1, { kind: 'refused', retryAfterMs: 1 }, 0, NEVER, { ...TERMS, on: [] })).toEqual(
      stop,
    );
  });

  it('comes back no sooner than a hint says, and not all at once', () => {
    expect(decide(1, { kind: 'refused', retryAfterMs: 700 }, 0)).toEqual({
      kind: 'retry',
      afterMs: 700,
    });
    expect(decide(1, { kind: 'busy', retryAfterMs: 700 }, 0.5)).toEqual({
      kind: 'retry',
      afterMs: 725,
    });
  });

  it('stops at a hint that is longer than it may be made to wait', () => {
    expect(decide(1, { kind: 'refused', retryAfterMs: 1000 }).kind).toBe('retry');
    for (const retryAfterMs of [1001, 1e300, NEVER]) {
      expect(decide(1, { kind: 'failure', retryAfterMs })).toEqual({
        kind: 'stop',
        reason: 'hint',
      });
    }
  });

  it('does not begin a backoff that would last until the deadline', () => {
    expect(decide(1, 'failure', 0.5, 26)).toEqual({ kind: 'retry', afterMs: 25 });
    expect(decide(1, 'failure', 0.5, 25)).toEqual({ kind: 'stop', reason: 'deadline' });
    expect(decide(1, 'failure', 0, 0)).toEqual({ kind: 'stop', reason: 'deadline' });
  });
});

it('every backoff is finite and within its bounds, for any terms and any number of attempts', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 ** 31 }),
      fc.integer({ min: 0, max: 3_600_000 }),
      fc.integer({ min: 0, max: 3_600_000 }),
      fc.integer({ min: 0, max: 1000 }),
      random,
      (attempt, baseDelayMs, maxDelayMs, retryAfterMs, drawn) => {
        const terms = { ...TERMS, maxAttempts: NEVER, baseDelayMs, maxDelayMs };
        const decided = decide(attempt, { kind: 'busy', retryAfterMs }, drawn, NEVER, terms);
        if (decided.kind !== 'retry') throw new Error(`stopped: ${decided.reason}`);
        expect(decided.afterMs).toBeGreaterThanOrEqual(retryAfterMs);
        expect(decided.afterMs).toBeLessThanOrEqual(retryAfterMs + maxDelayMs);
        expect(backoffBoundMs(attempt + 1, terms)).toBeGreaterThanOrEqual(
          backoffBoundMs(attempt, terms),
        );
      },
    ),
  );
});
