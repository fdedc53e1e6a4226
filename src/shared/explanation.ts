/** What became of one call, for people: which stage delayed or refused it, for how long, under which configuration. */
import type { RetryStop } from './retry-policy.js';
import type { VerdictKind } from './verdict.js';

/** What may hold or refuse an attempt, in the order in which it is asked. */
export type StageName = 'pressure' | 'table' | 'host' | 'circuit';

export interface StageExplanation {
  readonly stage: StageName;
  readonly waitedMs: number;
}

/** One admission, and the attempt that followed it. */
export interface AttemptExplanation {
  /** Counts from 1. */
  readonly attempt: number;
  /** Config version that it was admitted under. */
  readonly configVersion: number;
  /** Stages that had a say and let it through; one that limits nothing for this call is left out. */
  readonly stages: readonly StageExplanation[];
  /** What it came to; undefined: it was not let through. */
  readonly verdict?: VerdictKind;
  /** When the downstream said to come back. */
  readonly retryAfterMs?: number;
  /** From its begin to its end. */
  readonly tookMs?: number;
  /** Before the next attempt. */
  readonly backoffMs?: number;
  /** Why no attempt followed. */
  readonly stopped?: RetryStop;
}

export interface RefusalExplanation {
  /** A stage, `queue` (of a stage, full), the call's `deadline`, its `signal`, the `runtime` that closes. */
  readonly by: StageName | 'queue' | 'deadline' | 'signal' | 'runtime' | 'other';
  /** Of the error. */
  readonly reason: string;
  readonly retryAfterMs?: number;
}

export interface Explanation {
  /** Config version when the call began. */
  readonly configVersion: number;
  /** From begin to end. */
  readonly tookMs: number;
  /** Held by stages, all attempts together. */
  readonly waitedMs: number;
  /** Between attempts. */
  readonly backoffMs: number;
  readonly attempts: readonly AttemptExplanation[];
  /** Who ended it before an attempt could, and why. */
  readonly refusal?: RefusalExplanation;
}

/** What a call with `explain: true` resolves to. */
export interface Explained<T> {
  readonly value: T;
  readonly explanation: Explanation;
}
