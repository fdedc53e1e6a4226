import type { FailureDirective } from './supervision.js';

/** A behaviour threw. Published on the system's `failures` stream, whatever supervision made of it. */
export interface ActorFailure {
  readonly path: string;
  readonly error: unknown;
  /** What supervision answered; `none` where the actor was ending anyway (`pre-restart` and `stopped` signals). */
  readonly directive: FailureDirective | 'none';
  /** The actor has no parent to escalate to: it is gone for good, and `onFatal` was called. */
  readonly fatal: boolean;
  readonly atMs: number;
}
