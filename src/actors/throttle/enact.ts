import type { ActorContext } from '../core/behavior.js';
import type { ThrottleCounter } from '../metrics/metrics-actor.js';
import type { PairRate } from './limit-action.js';
import { limitMoves } from './limit-move.js';
import type { Transition } from './state-machine.js';
import type { ThrottleReason } from './throttle-reason.js';
import type { ThrottleMessage, ThrottleOptions, ThrottleState } from './throttle-state.js';

type Context = ActorContext<ThrottleMessage>;

export interface Change {
  readonly kind: 'upgrade' | 'downgrade' | 'lifted';
  readonly transition: Transition;
  readonly reason: ThrottleReason;
  /** What an upgrade looked at. */
  readonly rates?: readonly PairRate[];
}

/** Lets a transition of the state machine take effect: limits, history, coordinator, counters, event, in this order. */
export function enact(
  state: ThrottleState,
  { kind, transition, reason, rates = [] }: Change,
  options: ThrottleOptions,
  context: Context,
): ThrottleState {
  const { state: levels, actions } = transition;
  // Limits first: what is in force explains itself after a crash, a record without a limit does not.
  if (actions.length > 0) options.limits.apply(actions);
  if (levels.history !== state.levels.history) {
    options.memory.history = levels.history;
    options.onHistory(levels.history);
  }
  const level = levels.history.length;
  if (state.coordinator !== undefined) {
    context.tell(state.coordinator, { kind: 'pending', value: level > 0 });
  }
  if (kind !== 'lifted') count(options, context, kind === 'upgrade' ? 'upgrades' : 'downgrades', 1);
  const moves = limitMoves(state.levels, actions, rates);
  const told = { actions, moves, reason, atMs: context.nowMs() };
  options.onEvent(kind === 'lifted' ? { kind, level: 0, ...told } : { kind, level, ...told });
  return { ...state, levels };
}

export function count(
  { metrics }: ThrottleOptions,
  context: Context,
  counter: ThrottleCounter,
  n: number,
): void {
  context.tell(metrics, { kind: 'count', counter, n });
}
