import type { ActorContext } from '../core/behavior.js';
import type { ThrottleCounter } from '../metrics/metrics-actor.js';
import type { Transition } from './state-machine.js';
import type { ThrottleMessage, ThrottleOptions, ThrottleState } from './throttle-state.js';

type Context = ActorContext<ThrottleMessage>;

/** Lets a transition of the state machine take effect: limits, history, coordinator, counters, event, in this order. */
export function enact(
  state: ThrottleState,
  { state: levels, actions }: Transition,
  kind: 'upgrade' | 'downgrade' | 'lifted',
  options: ThrottleOptions,
  context: Context,
): ThrottleState {
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
  const atMs = context.nowMs();
  options.onEvent(
    kind === 'lifted' ? { kind, level: 0, actions, atMs } : { kind, level, actions, atMs },
  );
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
