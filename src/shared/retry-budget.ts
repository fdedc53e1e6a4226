/**
 * Bounds retries to a share of the calls, so that they cannot multiply the load of a downstream that is down (as Finagle
 * does). A token bucket with two inflows: each call brings `ratio` of a retry, and time brings a few whatever the calls.
 * Over any stretch: retries <= burst + ratio x calls + perSecond x elapsed.
 */
export interface BudgetTerms {
  /** Retries that each call allows, 0 to 1. */
  readonly budgetRatio: number;
  /** Retries per second that are allowed whatever the calls. */
  readonly budgetPerSecond: number;
  /** Retries that can be saved up; what a budget starts with. */
  readonly budgetBurst: number;
}

export interface RetryBalance {
  /** Retries that are allowed now, as of `atMs`. */
  readonly tokens: number;
  readonly atMs: number;
}

/** Five times 0.2 may come out a little less than 1. The debt that this makes is paid back. */
const ROUNDING = 1e-6;

export interface BudgetDecision {
  readonly granted: boolean;
  readonly balance: RetryBalance;
}

export function fullBudget(terms: BudgetTerms, nowMs: number): RetryBalance {
  return { tokens: terms.budgetBurst, atMs: nowMs };
}

/** A call has begun. */
export function depositCall({ tokens, atMs }: RetryBalance, terms: BudgetTerms): RetryBalance {
  return { tokens: Math.min(tokens + terms.budgetRatio, terms.budgetBurst), atMs };
}

/** Takes one retry if the budget allows it. Time that goes back counts as none. */
export function withdrawRetry(
  { tokens, atMs }: RetryBalance,
  terms: BudgetTerms,
  nowMs: number,
): BudgetDecision {
  const elapsedMs = Math.max(nowMs - atMs, 0);
  const there = Math.min(tokens + (elapsedMs * terms.budgetPerSecond) / 1000, terms.budgetBurst);
  const granted = there >= 1 - ROUNDING;
  return {
    granted,
    balance: { tokens: granted ? there - 1 : there, atMs: Math.max(nowMs, atMs) },
  };
}
