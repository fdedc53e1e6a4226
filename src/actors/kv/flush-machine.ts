import { IllegalStateError } from '../../shared/errors.js';

/**
 * Who may flush a tablet, and when. Pure. A request queues one task and later ones only raise its target; a worker claims
 * the task; storage may refuse, and then a timer tries again, for ever, at delays that double up to a maximum. There is
 * never more than one task or run per tablet.
 */

export interface FlushParams {
  /** Delay before the first retry, ms. */
  readonly minRetryMs: number;
  /** No delay is longer, ms. */
  readonly maxRetryMs: number;
}

export type FlushPhase = 'idle' | 'queued' | 'running' | 'storage_blocked';

export interface FlushState {
  readonly phase: FlushPhase;
  /** Everything below this offset is wanted in the store. */
  readonly requested: number;
  /** Everything below this offset is there. Never goes back. */
  readonly flushed: number;
  /** Tasks handed to the pool so far. */
  readonly enqueued: number;
  /** Refusals since a run made progress or ended. */
  readonly refusals: number;
  readonly closed: boolean;
}

/** Nothing wanted, everything below `flushed` in the store. */
export function idleFlush(flushed = 0): FlushState {
  return { phase: 'idle', requested: flushed, flushed, enqueued: 0, refusals: 0, closed: false };
}

/** Everything below `upTo` shall be flushed. What is flushed already is no request. */
export function requestFlush(state: FlushState, upTo: number): FlushState {
  if (state.closed || upTo <= state.flushed) return state;
  const requested = Math.max(state.requested, upTo);
  return state.phase === 'idle' ? enqueue({ ...state, requested }) : { ...state, requested };
}

/** A worker is free. `claimed`: the run is its own. */
export function claimFlush(state: FlushState): {
  readonly state: FlushState;
  readonly claimed: boolean;
} {
  if (state.closed || state.phase !== 'queued') return { state, claimed: false };
  return { state: { ...state, phase: 'running' }, claimed: true };
}

/** The run has brought everything below `flushedUpTo` into the store and goes on. */
export function progressFlush(state: FlushState, flushedUpTo: number): FlushState {
  if (state.closed) return state;
  requireRun('progress', state);
  return { ...state, flushed: Math.max(state.flushed, flushedUpTo), refusals: 0 };
}

/** The run is over; what was requested meanwhile, or is left, is the next task. */
export function finishFlush(state: FlushState, flushedUpTo: number): FlushState {
  if (state.closed) return state;
  requireRun('finish', state);
  const done = progressFlush(state, flushedUpTo);
  return done.requested > done.flushed ? enqueue(done) : { ...done, phase: 'idle' };
}

/** Storage refused the run. `retryInMs`: when the timer is to fire; undefined once closed. */
export function blockFlush(
  state: FlushState,
  params: FlushParams,
): { readonly state: FlushState; readonly retryInMs: number | undefined } {
  if (state.closed) return { state, retryInMs: undefined };
  requireRun('blocked', state);
  const retryInMs = Math.min(params.minRetryMs * 2 ** state.refusals, params.maxRetryMs);
  return {
    // Past 1000 doublings the delay has long been at its maximum, and 2^1024 is not finite.
    state: { ...state, phase: 'storage_blocked', refusals: Math.min(state.refusals + 1, 1000) },
    retryInMs,
  };
}

/** The timer fires. One that is late, or one too many, does nothing. */
export function retryFlush(state: FlushState): FlushState {
  return state.phase === 'storage_blocked' ? enqueue(state) : state;
}

/** The run, or what waits for one, has failed for good. The target is kept for the next request. */
export function failFlush(state: FlushState): FlushState {
  return state.closed ? state : { ...state, phase: 'idle' };
}

/** From here on nothing has an effect. */
export function closeFlush(state: FlushState): FlushState {
  return { ...state, phase: 'idle', closed: true };
}

function enqueue(state: FlushState): FlushState {
  return { ...state, phase: 'queued', enqueued: state.enqueued + 1 };
}

function requireRun(operation: string, { phase }: FlushState): void {
  if (phase === 'running') return;
  throw new IllegalStateError(`${operation}: no flush is running, the state is ${phase}`);
}
