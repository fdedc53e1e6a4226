/** What the breaker decides by. All of it may change at run time; a decision takes what is in force at that moment. */
export interface BreakerParams {
  /** Failures in a row that open a circuit, an integer >= 1. Without effect while `failureRate` is above 0. */
  readonly failureThreshold: number;
  /** From the failure that opened a circuit to its first probe. */
  readonly cooldownMs: number;
  /** A probe that has not answered after this is lost. */
  readonly probeTimeoutMs: number;
  /** The cooldown is multiplied by it with each failed probe, >= 1. 1: it does not grow. */
  readonly cooldownFactor: number;
  /** No cooldown grows beyond it; below `cooldownMs` it has no effect. */
  readonly maxCooldownMs: number;
  /** Share of a cooldown, 0 to 1, of which a part that differs from opening to opening is left out. */
  readonly jitter: number;
  /** Probes in a row that must succeed before a circuit closes, 1 to 15. */
  readonly probesToClose: number;
  /** Above 0: a circuit opens when this share of the outcomes in the window, <= 1, are failures. */
  readonly failureRate: number;
  /** Length of that window. */
  readonly windowMs: number;
  /** Outcomes in the window below which the rate says nothing. */
  readonly minimumCalls: number;
}

/** What the upkeep of circuits goes by. */
export interface RetentionParams {
  /** Addresses that may be tracked at one time. */
  readonly maxAddresses: number;
  /** An address that nothing has been heard of for so long is forgotten. */
  readonly idleMs: number;
}
