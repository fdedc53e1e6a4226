import type { DeadLetterCounts } from './dead-letter.js';

/** What a system holds and what has gone wrong in it so far. */
export interface SystemStats {
  /** Actors alive, the timer actor not counted. */
  readonly actors: number;
  /** Timers and ask deadlines that wait. */
  readonly timers: number;
  readonly asks: number;
  readonly deadLetters: DeadLetterCounts;
  /** Times that a behaviour threw. */
  readonly failures: number;
  /** Times that a listener of `deadLetters` or `failures` threw. */
  readonly listenerFailures: number;
}
