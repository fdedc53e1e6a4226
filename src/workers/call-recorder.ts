/** Writes down what becomes of a call that wants to be explained. */
import { isSpillwayError, type Stage } from '../shared/errors.js';
import type {
  AttemptExplanation,
  Explanation,
  RefusalExplanation,
  StageExplanation,
  StageName,
} from '../shared/explanation.js';
import type { RetryStop } from '../shared/retry-policy.js';
import { thrownText } from '../shared/thrown-text.js';
import type { VerdictKind } from '../shared/verdict.js';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type Entry = Writable<Omit<AttemptExplanation, 'stages'>> & { stages: StageExplanation[] };

export class CallRecorder {
  readonly #nowNs: () => number;
  readonly #sinceNs: number;
  readonly #configVersion: number;
  readonly #attempts: Entry[] = [];
  #attemptSinceNs = 0;
  #refusal: RefusalExplanation | undefined;

  constructor(nowNs: () => number, configVersion: number) {
    this.#nowNs = nowNs;
    this.#sinceNs = nowNs();
    this.#configVersion = configVersion;
  }

  /** The stages are asked now. */
  admitting(attempt: number, configVersion: number): void {
    this.#attempts.push({ attempt, configVersion, stages: [] });
  }

  passed(stage: StageName, waitedNs: number): void {
    this.#attempts.at(-1)?.stages.push({ stage, waitedMs: waitedNs / 1e6 });
  }

  started(): void {
    this.#attemptSinceNs = this.#nowNs();
  }

  ended(verdict: VerdictKind, retryAfterMs: number | undefined): void {
    this.#note({
      verdict,
      tookMs: (this.#nowNs() - this.#attemptSinceNs) / 1e6,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }

  backingOff(backoffMs: number): void {
    this.#note({ backoffMs });
  }

  stopped(reason: RetryStop): void {
    this.#note({ stopped: reason });
  }

  /** A stage, the deadline, the signal or the runtime has ended the call. */
  refused(error: unknown, signal: AbortSignal | undefined): void {
    this.#refusal = explainRefusal(error, signal);
  }

  explanation(): Explanation {
    const stages = this.#attempts.flatMap((entry) => entry.stages);
    return {
      configVersion: this.#configVersion,
      tookMs: (this.#nowNs() - this.#sinceNs) / 1e6,
      waitedMs: stages.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
      backoffMs: this.#attempts.reduce((sum, { backoffMs = 0 }) => sum + backoffMs, 0),
      attempts: this.#attempts,
      ...(this.#refusal !== undefined && { refusal: this.#refusal }),
    };
  }

  /** Gives the explanation to an error that leaves the call. Errors that take nothing on are left as they are. */
  attachTo(error: unknown): void {
    if (!(error instanceof Error) || !Object.isExtensible(error)) return;
    // Somebody else's own, that must not change.
    if (Object.getOwnPropertyDescriptor(error, 'explanation')?.configurable === false) return;
    Object.defineProperty(error, 'explanation', {
      value: this.explanation(),
      // Ours take it along across threads; it is no field of somebody else's.
      enumerable: isSpillwayError(error),
      configurable: true,
      writable: true,
    });
  }

  #note(facts: Partial<Entry>): void {
    Object.assign(this.#attempts.at(-1) as Entry, facts);
  }
}

function explainRefusal(error: unknown, signal: AbortSignal | undefined): RefusalExplanation {
  const reason = thrownText(error);
  if (signal?.aborted === true && error === signal.reason) return { by: 'signal', reason };
  const { code, stage, retryAfterMs } = (isSpillwayError(error) ? error : {}) as {
    code?: string;
    stage?: Stage;
    retryAfterMs?: number;
  };
  const hint = typeof retryAfterMs === 'number' ? { retryAfterMs } : {};
  switch (code) {
    case 'ERR_SPILLWAY_RATE_LIMIT_EXCEEDED':
      return { by: stage ?? 'other', reason, ...hint };
    case 'ERR_SPILLWAY_CIRCUIT_OPEN':
      return { by: 'circuit', reason, ...hint };
    case 'ERR_SPILLWAY_DEADLINE_EXCEEDED': {
      const { cause } = error as Error;
      return {
        by: 'deadline',
        reason: isSpillwayError(cause) ? `${reason}: ${cause.message}` : reason,
      };
    }
    case 'ERR_SPILLWAY_RUNTIME_CLOSED':
      return { by: 'runtime', reason };
    default:
      return { by: 'other', reason };
  }
}
