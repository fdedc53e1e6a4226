/**
 * One call on its way: which attempt it is at, how much of its patience and its time is left, and what it ends with. See
 * docs/design/calls.md for the states.
 */
import {
  AttemptTimeoutError,
  DeadlineExceededError,
  RateLimitExceededError,
  RuntimeClosedError,
} from '../shared/errors.js';
import { decideRetry } from '../shared/retry-policy.js';
import { type Verdict, verdictKind } from '../shared/verdict.js';
import { type EndedAttempt, withCause } from './attempt-run.js';
import type { Bound } from './attempt-scope.js';
import type { CallLine } from './call-line.js';
import type { PlannedCall } from './call-options.js';
import type { CallRecorder } from './call-recorder.js';
import type { Taken } from './hold.js';
import type { Outcome } from './outcome.js';
import type { ThreadContext } from './thread-context.js';

export class CallCourse<T> {
  /** Counts from 1; the first has not begun. */
  attempt = 1;
  readonly #thread: ThreadContext;
  readonly #call: PlannedCall;
  readonly #line: CallLine;
  readonly #recorder: CallRecorder | undefined;
  readonly #deadlineNs: number;
  #begun = 0;
  #waitedNs = 0;
  #last: Outcome<T> | undefined;

  constructor(
    thread: ThreadContext,
    call: PlannedCall,
    line: CallLine,
    recorder: CallRecorder | undefined,
  ) {
    this.#thread = thread;
    this.#call = call;
    this.#line = line;
    this.#recorder = recorder;
    // Nobody who has no deadline pays for the clock.
    this.#deadlineNs =
      call.deadlineMs === 0 ? Number.POSITIVE_INFINITY : thread.nowNs() + call.deadlineMs * 1e6;
  }

  /** Longest that the stages may still hold it, ms. */
  patienceMs(): number {
    const leftMs = Math.max(this.#call.maxWaitMs - this.#waitedNs / 1e6, 0);
    return Math.min(leftMs, Math.max(this.#leftMs(), 0));
  }

  /** The stages have let the attempt through; throws when it must not start any more. */
  admitted(taken: Taken | undefined): void {
    for (let at = taken; at !== undefined; at = at.before) this.#waitedNs += at.hold.waitedNs;
    this.#call.signal?.throwIfAborted();
    if (this.#thread.closing() || this.#thread.hasLeft) throw new RuntimeClosedError();
    if (this.#leftMs() <= 0) throw this.#deadlineExceeded();
    this.#begun = this.attempt;
  }

  /** The error to reject with when a stage, the signal, the deadline or the runtime ends the call. */
  refusal(error: unknown): unknown {
    const { explain, signal, maxWaitMs } = this.#call;
    const last = this.#last;
    if (signal?.aborted === true && error === signal.reason) return error;
    // The one that closes the runtime is shared by all who are rejected.
    const isShared = error instanceof RuntimeClosedError && (last !== undefined || explain);
    const own = isShared ? new RuntimeClosedError(error.message) : error;
    if (last !== undefined) withCause(own, last.ok ? last.value : last.error);
    const isOutOfTime =
      own instanceof RateLimitExceededError &&
      own.stage !== 'queue' &&
      this.#leftMs() < Math.max(maxWaitMs - this.#waitedNs / 1e6, 0);
    return isOutOfTime ? this.#deadlineExceeded(own) : own;
  }

  /** When the attempt that starts now is left behind. */
  bound(): Bound | undefined {
    const { attemptTimeoutMs, signal } = this.#call;
    if (attemptTimeoutMs === 0 && this.#deadlineNs === Number.POSITIVE_INFINITY) return undefined;
    const { attempt } = this;
    const timeoutNs =
      attemptTimeoutMs === 0
        ? Number.POSITIVE_INFINITY
        : this.#thread.nowNs() + attemptTimeoutMs * 1e6;
    return {
      atNs: Math.min(timeoutNs, this.#deadlineNs),
      exceeded: () => {
        if (signal?.aborted === true) return signal.reason as unknown;
        if (this.#deadlineNs <= timeoutNs) return this.#deadlineExceeded();
        this.#line.account.count('TIMEOUTS');
        return new AttemptTimeoutError(
          `attempt ${attempt} was left behind after ${attemptTimeoutMs} ms`,
          { attempt, timeoutMs: attemptTimeoutMs, phase: 'attempt' },
        );
      },
    };
  }

  /** The attempt has ended. @returns how long to back off before the next one, ns; undefined: the call ends with it. */
  next({ outcome, verdict, fault }: EndedAttempt<T>, random: () => number): number | undefined {
    this.#last = outcome;
    if (fault !== undefined) {
      this.#line.account.count('CLASSIFIER_FAULTS');
      return undefined;
    }
    if (verdictKind(verdict) === 'success' || this.#call.signal?.aborted === true) return undefined;
    return this.#retry(verdict, random);
  }

  #retry(verdict: Verdict, random: () => number): number | undefined {
    const { terms } = this.#call;
    const { account } = this.#line;
    const { attempt } = this;
    const decision = decideRetry({ attempt, verdict, leftMs: this.#leftMs() }, terms, random());
    if (decision.kind === 'stop') {
      this.#recorder?.stopped(decision.reason);
      return undefined;
    }
    if (!this.#line.withdrawRetry(this.#thread.settings().retry)) {
      account.count('RETRIES_DENIED');
      this.#recorder?.stopped('budget');
      return undefined;
    }
    account.count('RETRIES');
    this.#recorder?.backingOff(decision.afterMs);
    this.attempt += 1;
    return decision.afterMs * 1e6;
  }

  /** Until the deadline, ms; Infinity without one. */
  #leftMs(): number {
    if (this.#deadlineNs === Number.POSITIVE_INFINITY) return this.#deadlineNs;
    return (this.#deadlineNs - this.#thread.nowNs()) / 1e6;
  }

  #deadlineExceeded(cause?: unknown): DeadlineExceededError {
    this.#line.account.count('DEADLINES');
    const { deadlineMs } = this.#call;
    const last = this.#last;
    const why = cause ?? (last === undefined || last.ok ? last?.value : last.error);
    return new DeadlineExceededError(
      `the call did not end within ${deadlineMs} ms`,
      { deadlineMs, attempts: this.#begun },
      why === undefined ? undefined : { cause: why },
    );
  }
}
