/** `gate.call`: takes a call through its attempts, each through all stages. */
import { RuntimeClosedError } from '../shared/errors.js';
import type { Explained } from '../shared/explanation.js';
import { THREAD } from '../shared/layout.js';
import { describeValue } from '../shared/quota.js';
import { verdictKind } from '../shared/verdict.js';
import {
  type AdmissionStage,
  admit,
  cancelAll,
  type Hold,
  settleAll,
  spendAll,
} from './admission.js';
import { type Attempt, runAttempt } from './attempt-run.js';
import { CallCourse, hintOf } from './call-course.js';
import type { CallLine } from './call-line.js';
import { type CallOptions, type PlannedCall, planCall } from './call-options.js';
import { CallRecorder } from './call-recorder.js';
import { type Classifier, classifyByError } from './outcome.js';
import { Pauses } from './pauses.js';
import type { ThreadContext } from './thread-context.js';

export interface CallRunnerParts {
  readonly thread: ThreadContext;
  readonly stages: readonly AdmissionStage[];
  /** @throws UnknownRpcError, RuntimeClosedError. */
  readonly lineOf: (rpc: string) => CallLine;
  readonly classify: Classifier | undefined;
  /** From [0, 1): the jitter of backoffs. */
  readonly random: () => number;
}

export class CallRunner {
  readonly #parts: CallRunnerParts;
  readonly #classify: Classifier;
  readonly #active: number;
  readonly #pauses: Pauses;

  constructor(parts: CallRunnerParts) {
    this.#parts = parts;
    this.#classify = parts.classify ?? classifyByError;
    this.#active = parts.thread.place.header + THREAD.ACTIVE;
    this.#pauses = new Pauses(parts.thread);
  }

  /** See `Gate.call`. */
  async run<T>(options: CallOptions<T>, attempt: Attempt<T>): Promise<T | Explained<T>> {
    const { thread, lineOf } = this.#parts;
    const settings = thread.settings();
    const call = planCall(options, settings);
    if (typeof attempt !== 'function')
      throw new TypeError(`attempt must be a function, got ${describeValue(attempt)}`);
    const line = lineOf(call.rpc);
    if (thread.closing()) throw new RuntimeClosedError();
    thread.count(this.#active, 1);
    const recorder = call.explain
      ? new CallRecorder(() => thread.nowNs(), settings.version)
      : undefined;
    try {
      call.signal?.throwIfAborted();
      if (call.terms.maxAttempts > 1) line.depositCall(settings.retry);
      const value = await this.#attempts(call, line, attempt, options.classify, recorder);
      return recorder === undefined ? value : { value, explanation: recorder.explanation() };
    } catch (error) {
      // The reason of a signal is shared by all who listen to it.
      if (error !== call.signal?.reason) recorder?.attachTo(error);
      throw error;
    } finally {
      thread.count(this.#active, -1);
    }
  }

  /** Ends who backs off: the thread leaves the runtime. */
  close(reason: RuntimeClosedError): void {
    this.#pauses.endAll(reason);
  }

  async #attempts<T>(
    call: PlannedCall,
    line: CallLine,
    attempt: Attempt<T>,
    classify: Classifier<T> = this.#classify as Classifier<T>,
    recorder: CallRecorder | undefined,
  ): Promise<T> {
    const { thread, stages, random } = this.#parts;
    const { signal } = call;
    const course = new CallCourse<T>(thread, call, line, recorder);
    const onLate = (): void => line.account.count('LATE');
    for (;;) {
      let holds: Hold[] = [];
      try {
        recorder?.admitting(course.attempt, thread.settings().version);
        const entering = admit(
          stages,
          call,
          course.patienceMs(),
          recorder && ((stage, waitedNs) => recorder.passed(stage, waitedNs)),
        );
        holds = entering instanceof Promise ? await entering : entering;
        course.admitted(holds);
      } catch (error) {
        cancelAll(holds);
        const refusal = course.refusal(error);
        recorder?.refused(refusal, signal);
        throw refusal;
      }
      spendAll(holds);
      line.goesOut();
      recorder?.started();
      const terms = { attempt: course.attempt, signal, bound: course.bound(), classify, onLate };
      const ended = await runAttempt(thread, attempt, terms);
      const kind = verdictKind(ended.verdict);
      settleAll(holds, kind);
      line.account.ended(kind);
      recorder?.ended(kind, hintOf(ended.verdict));
      const backoffNs = course.next(ended, random);
      if (backoffNs === undefined) {
        if (ended.fault !== undefined) throw ended.fault.error;
        if (ended.outcome.ok) return ended.outcome.value;
        throw ended.outcome.error;
      }
      try {
        await this.#pauses.until(thread.nowNs() + backoffNs, signal);
      } catch (error) {
        const refusal = course.refusal(error);
        recorder?.refused(refusal, signal);
        throw refusal;
      }
    }
  }
}
