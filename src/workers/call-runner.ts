/** `gate.call`: takes a call through its attempts, each through all stages. */

import { classifyByError } from '../shared/classify-by-error.js';
import { RuntimeClosedError } from '../shared/errors.js';
import type { Explained } from '../shared/explanation.js';
import { THREAD } from '../shared/layout.js';
import { describeValue } from '../shared/quota.js';
import {
  hintOf,
  pressureOf,
  type Verdict,
  type VerdictKind,
  verdictKind,
} from '../shared/verdict.js';
import { type AdmissionStage, admit } from './admission.js';
import { type Attempt, type EndedAttempt, judge, runAttempt } from './attempt-run.js';
import { CallCourse } from './call-course.js';
import type { CallLine } from './call-line.js';
import { type CallOptions, type PlannedCall, planCall, rpcOf } from './call-options.js';
import { CallRecorder } from './call-recorder.js';
import { answeredOf, cancelAll, settleAll, spendAll, type Taken } from './hold.js';
import type { Classifier, Outcome } from './outcome.js';
import { Pauses } from './pauses.js';
import { isThenable } from './thenable.js';
import type { ThreadClassifier } from './thread-classifier.js';
import type { ThreadContext } from './thread-context.js';

export interface CallRunnerParts {
  readonly thread: ThreadContext;
  readonly stages: readonly AdmissionStage[];
  /** Stands before the others for calls with a bucket; the rest do not even ask it. */
  readonly pressureStage: AdmissionStage;
  /** What a peer has reported for a bucket. */
  readonly onPressure: (bucket: string, pressure: number) => void;
  /** @throws UnknownRpcError, RuntimeClosedError. */
  readonly lineOf: (rpc: string) => CallLine;
  readonly classifier: Pick<ThreadClassifier, 'own'>;
  /** From [0, 1): the jitter of backoffs. */
  readonly random: () => number;
}

/** A call, and all that its attempts need. */
interface Job<T> {
  readonly call: PlannedCall;
  readonly line: CallLine;
  readonly attempt: Attempt<T>;
  readonly classify: Classifier<T>;
}

export class CallRunner {
  readonly #parts: CallRunnerParts;
  readonly #active: number;
  readonly #pauses: Pauses;
  readonly #pressedStages: readonly AdmissionStage[];

  constructor(parts: CallRunnerParts) {
    this.#parts = parts;
    this.#active = parts.thread.place.header + THREAD.ACTIVE;
    this.#pauses = new Pauses(parts.thread);
    this.#pressedStages = [parts.pressureStage, ...parts.stages];
  }

  /**
   * See `Gate.call`. The common case, a good answer to a first attempt that nothing holds or bounds, is one asynchronous
   * frame; everything else goes the long way.
   */
  async run<T>(options: CallOptions<T>, attempt: Attempt<T>): Promise<T | Explained<T>> {
    const { thread, lineOf, classifier } = this.#parts;
    const settings = thread.settings();
    const line = lineOf(rpcOf(options));
    const call = planCall(options, settings, line.limiter);
    if (typeof attempt !== 'function')
      throw new TypeError(`attempt must be a function, got ${describeValue(attempt)}`);
    if (thread.closing()) throw new RuntimeClosedError();
    const { signal } = call;
    const own = options.classify ?? (classifier.own as Classifier<T> | undefined);
    const classify = own ?? classifyByError;
    thread.count(this.#active, 1);
    try {
      if (call.terms.maxAttempts > 1) line.depositCall(settings.retry);
      if (call.explain) return await this.#explained({ call, line, attempt, classify });
      if (call.attemptTimeoutMs !== 0 || call.deadlineMs !== 0)
        return await this.#attempts({ call, line, attempt, classify });
      signal?.throwIfAborted();
      const taken = admit(this.#stagesOf(call), call, call.maxWaitMs);
      if (taken instanceof Promise)
        return await this.#attempts({ call, line, attempt, classify }, taken);
      spendAll(taken);
      line.goesOut();
      let outcome: Outcome<T> | undefined;
      let value: T | undefined;
      try {
        const running = attempt({ attempt: 1, signal, answered: answeredOf(taken) });
        value = isThenable(running) ? await running : running;
      } catch (error) {
        outcome = { ok: false, error };
      }
      if (outcome === undefined) {
        if (own === undefined) {
          // Nobody has another opinion of an answer.
          this.#settle(line, taken, 'success');
          return value as T;
        }
        outcome = { ok: true, value: value as T };
      }
      const ended = judge(outcome, classify, signal);
      const kind = verdictKind(ended.verdict);
      this.#settle(line, taken, kind);
      if (call.bucket !== undefined) this.#notePressure(call.bucket, ended.verdict);
      if (kind === 'success' && outcome.ok) return outcome.value;
      return await this.#attempts({ call, line, attempt, classify }, ended);
    } finally {
      thread.count(this.#active, -1);
    }
  }

  /** Ends who backs off: the thread leaves the runtime. */
  close(reason: RuntimeClosedError): void {
    this.#pauses.endAll(reason);
  }

  async #explained<T>(job: Job<T>): Promise<Explained<T>> {
    const { thread } = this.#parts;
    const recorder = new CallRecorder(() => thread.nowNs(), thread.settings().version);
    try {
      const value = await this.#attempts(job, undefined, recorder);
      return { value, explanation: recorder.explanation() };
    } catch (error) {
      // The reason of a signal is shared by all who listen to it.
      if (error !== job.call.signal?.reason) recorder.attachTo(error);
      throw error;
    }
  }

  /** @param from how far the first attempt has come: its stages hold it, or it has ended; undefined: it has not begun. */
  async #attempts<T>(
    job: Job<T>,
    from?: Promise<Taken | undefined> | EndedAttempt<T>,
    recorder?: CallRecorder,
  ): Promise<T> {
    const { thread, random } = this.#parts;
    const { call, line } = job;
    const course = new CallCourse<T>(thread, call, line, recorder);
    let entering = from instanceof Promise ? from : undefined;
    let ended = from instanceof Promise ? undefined : from;
    for (;;) {
      ended ??= await this.#attempt(job, course, entering, recorder);
      const backoffNs = course.next(ended, random);
      if (backoffNs === undefined) return result(ended);
      call.onRetry?.();
      try {
        await this.#pauses.until(thread.nowNs() + backoffNs, call.signal);
      } catch (error) {
        const refusal = course.refusal(error);
        recorder?.refused(refusal, call.signal);
        throw refusal;
      }
      entering = undefined;
      ended = undefined;
    }
  }

  /** One attempt, the stages included. Rejects when they do not let it through. */
  async #attempt<T>(
    { call, line, attempt, classify }: Job<T>,
    course: CallCourse<T>,
    begun: Promise<Taken | undefined> | undefined,
    recorder: CallRecorder | undefined,
  ): Promise<EndedAttempt<T>> {
    const { thread } = this.#parts;
    let taken: Taken | undefined;
    try {
      recorder?.admitting(course.attempt, thread.settings().version);
      call.signal?.throwIfAborted();
      const passed = recorder?.passed.bind(recorder);
      const entering = begun ?? admit(this.#stagesOf(call), call, course.patienceMs(), passed);
      taken = entering instanceof Promise ? await entering : entering;
      course.admitted(taken);
    } catch (error) {
      cancelAll(taken);
      const refusal = course.refusal(error);
      recorder?.refused(refusal, call.signal);
      throw refusal;
    }
    spendAll(taken);
    line.goesOut();
    recorder?.started();
    const ended = await runAttempt(thread, attempt, {
      attempt: course.attempt,
      signal: call.signal,
      bound: course.bound(),
      classify,
      onLate: () => line.account.count('LATE'),
      answered: answeredOf(taken),
    });
    const kind = verdictKind(ended.verdict);
    this.#settle(line, taken, kind);
    if (call.bucket !== undefined) this.#notePressure(call.bucket, ended.verdict);
    recorder?.ended(kind, hintOf(ended.verdict));
    return ended;
  }

  #stagesOf({ bucket }: PlannedCall): readonly AdmissionStage[] {
    return bucket === undefined ? this.#parts.stages : this.#pressedStages;
  }

  #notePressure(bucket: string, verdict: Verdict): void {
    const pressure = pressureOf(verdict);
    if (pressure !== undefined) this.#parts.onPressure(bucket, pressure);
  }

  #settle(line: CallLine, taken: Taken | undefined, verdict: VerdictKind): void {
    settleAll(taken, verdict);
    line.account.ended(verdict);
  }
}

function result<T>({ outcome, fault }: EndedAttempt<T>): T {
  if (fault !== undefined) throw fault.error;
  if (outcome.ok) return outcome.value;
  throw outcome.error;
}
