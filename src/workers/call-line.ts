/** What a thread keeps per RPC type for its calls. */
import { STATS } from '../shared/kernel/port.js';
import {
  type BudgetTerms,
  depositCall,
  fullBudget,
  type RetryBalance,
  withdrawRetry,
} from '../shared/retry-budget.js';
import type { CallAccount } from './call-account.js';
import type { HostLimiter } from './host-limiter.js';
import type { ThreadContext } from './thread-context.js';

export class CallLine {
  readonly limiter: HostLimiter;
  readonly account: CallAccount;
  readonly #thread: ThreadContext;
  readonly #attempts: number;
  /** Undefined until the first call that may be retried. */
  #balance: RetryBalance | undefined;

  constructor(thread: ThreadContext, limiter: HostLimiter, account: CallAccount) {
    this.#thread = thread;
    this.limiter = limiter;
    this.account = account;
    this.#attempts = thread.place.stats(limiter.id, 'host') + STATS.CALLS;
  }

  /** An attempt goes out. */
  goesOut(): void {
    this.#thread.count(this.#attempts, 1);
  }

  /** A call that may be retried has begun. */
  depositCall(terms: BudgetTerms): void {
    this.#balance = depositCall(this.#balance ?? this.#full(terms), terms);
  }

  /** @returns whether the budget allows a retry, which is then taken from it. */
  withdrawRetry(terms: BudgetTerms): boolean {
    const balance = this.#balance ?? this.#full(terms);
    const decided = withdrawRetry(balance, terms, this.#thread.nowNs() / 1e6);
    this.#balance = decided.balance;
    return decided.granted;
  }

  #full(terms: BudgetTerms): RetryBalance {
    return fullBudget(terms, this.#thread.nowNs() / 1e6);
  }
}
