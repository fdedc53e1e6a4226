/** When a read from peers must have ended, fallback included. */
import { DeadlineExceededError } from '../shared/errors.js';

export class ReadDeadline {
  /** Infinity: there is none. */
  readonly atNs: number;
  readonly #deadlineMs: number;
  #attempts = 0;
  #last: unknown;

  /** `deadlineMs`: from now on; 0: none. */
  constructor(deadlineMs: number, nowNs: number) {
    this.#deadlineMs = deadlineMs;
    this.atNs = deadlineMs === 0 ? Number.POSITIVE_INFINITY : nowNs + deadlineMs * 1e6;
  }

  leftMs(nowNs: number): number {
    return Math.max(this.atNs - nowNs, 0) / 1e6;
  }

  /** A candidate is asked. */
  begins(): void {
    this.#attempts += 1;
  }

  /** It has ended, with `error` if it did not serve the read. */
  ended(error: unknown): void {
    if (!(error instanceof DeadlineExceededError)) this.#last = error;
  }

  /** @throws DeadlineExceededError when it has passed; its cause is what the last candidate failed with, if any did. */
  check(nowNs: number): void {
    if (nowNs >= this.atNs) throw this.exceeded();
  }

  exceeded(): DeadlineExceededError {
    const deadlineMs = this.#deadlineMs;
    const cause = this.#last;
    return new DeadlineExceededError(
      `the read did not end within ${deadlineMs} ms`,
      { deadlineMs, attempts: this.#attempts },
      cause === undefined ? undefined : { cause },
    );
  }
}
