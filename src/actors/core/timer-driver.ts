/**
 * What gives an actor system its wake-ups; the timer actor alone uses it. Real time (workers) and virtual time (testing)
 * implement it.
 */
export interface TimerDriver {
  /**
   * Calls `wake` once, not before `delayMs` (0 to 2^53 ms, possibly with a fraction) have passed; replaces what was armed
   * before. Waking early is no fault, the timer actor looks at the clock and arms again.
   */
  arm(delayMs: number, wake: () => void): void;
  /** Forgets what was armed. */
  disarm(): void;
}
