import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BudgetTerms,
  depositCall,
  fullBudget,
  type RetryBalance,
  withdrawRetry,
} from '../../src/shared/retry-budget.js';

const TERMS: BudgetTerms = { budgetRatio: 0.2, budgetPerSecond: 1, budgetBurst: 10 };

/** Withdraws until it is refused. */
function drain(from: RetryBalance, nowMs: number, terms = TERMS): [number, RetryBalance] {
  let balance = from;
  for (let taken = 0; ; taken += 1) {
    const decided = withdrawRetry(balance, terms, nowMs);
    balance = decided.balance;
    if (!decided.granted) return [taken, balance];
  }
}

describe('a retry budget', () => {
  it('starts with its burst, then allows one retry in five calls', () => {
    let [taken, balance] = drain(fullBudget(TERMS, 0), 0);
    expect(taken).toBe(10);
    for (let call = 0; call < 50; call += 1) balance = depositCall(balance, TERMS);
    [taken, balance] = drain(balance, 0);
    expect(taken).toBe(10);
    expect(withdrawRetry(depositCall(balance, TERMS), TERMS, 0).granted).toBe(false);
  });

  it('always allows a few, whatever the calls', () => {
    const [, empty] = drain(fullBudget(TERMS, 0), 0);
    expect(withdrawRetry(empty, TERMS, 999).granted).toBe(false);
    expect(withdrawRetry(empty, TERMS, 1000).granted).toBe(true);
    expect(drain(empty, 3_600_000)[0]).toBe(10);
  });

  it('saves up no more than its burst', () => {
    let balance = fullBudget(TERMS, 0);
    for (let call = 0; call < 1000; call += 1) balance = depositCall(balance, TERMS);
    expect(drain(balance, 0)[0]).toBe(10);
  });

  it('takes a clock that steps back as standing still', () => {
    const [, empty] = drain(fullBudget(TERMS, 11_000), 11_000);
    const back = withdrawRetry(empty, TERMS, 0);
    expect(back.granted).toBe(false);
    expect(withdrawRetry(back.balance, TERMS, 11_999).granted).toBe(false);
  });

  it('over any stretch allows at most burst + ratio x calls + perSecond x elapsed, and no fewer', () => {
    const terms = fc.record({
      budgetRatio: fc.constantFrom(0, 0.125, 0.25, 1),
      budgetPerSecond: fc.constantFrom(0, 1, 8),
      budgetBurst: fc.integer({ min: 1, max: 20 }),
    });
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ calls: fc.nat(40) }) },
      { weight: 3, arbitrary: fc.record({ retries: fc.nat(10) }) },
      { weight: 1, arbitrary: fc.record({ afterMs: fc.constantFrom(0, 125, 1000, 60_000) }) },
    );
    fc.assert(
      fc.property(terms, fc.array(step, { maxLength: 60 }), (budget, steps) => {
        let balance = fullBudget(budget, 0);
        let [nowMs, calls, granted] = [0, 0, 0];
        /** What a stretch that began earlier has left over; the smallest is the tightest. */
        let allowed = budget.budgetBurst;
        for (const { calls: more = 0, retries = 0, afterMs = 0 } of steps as {
          calls?: number;
          retries?: number;
          afterMs?: number;
        }[]) {
          nowMs += afterMs;
          calls += more;
          const inflow = (afterMs / 1000) * budget.budgetPerSecond + more * budget.budgetRatio;
          allowed = Math.min(allowed + inflow, budget.budgetBurst);
          for (let i = 0; i < more; i += 1) balance = depositCall(balance, budget);
          for (let i = 0; i < retries; i += 1) {
            const decided = withdrawRetry(balance, budget, nowMs);
            balance = decided.balance;
            if (!decided.granted) continue;
            granted += 1;
            allowed -= 1;
            expect(allowed).toBeGreaterThanOrEqual(-1e-5);
          }
          if (retries > 0 && allowed >= 1)
            expect(withdrawRetry(balance, budget, nowMs).granted).toBe(true);
        }
        const bound =
          budget.budgetBurst + calls * budget.budgetRatio + (nowMs / 1000) * budget.budgetPerSecond;
        expect(granted).toBeLessThanOrEqual(bound + 1e-5);
      }),
    );
  });
});
