import type { ActorContext, Behavior, TimerId } from '../core/behavior.js';
import {
  busy,
  type CoordinatorParams,
  type CoordinatorState,
  INITIAL_COORDINATOR,
  RESTORED_COORDINATOR,
  setPendingUpgrades,
  tick,
  ticksToDowngrade,
} from './coordinator.js';

export type CoordinatorMessage =
  | {
      /** The first thing that it is told after each start. */
      readonly kind: 'resume';
      readonly active: boolean;
      readonly params: CoordinatorParams;
      /** Limits are in force already. */
      readonly pendingUpgrades: boolean;
    }
  | { readonly kind: 'configure'; readonly active: boolean; readonly params: CoordinatorParams }
  /** BUSY came, at least once since the last such message: one signal, however many. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'pending'; readonly value: boolean }
  /** The quiet time may be over. */
  | { readonly kind: 'quiet' };

export type Decision = 'upgrade' | 'downgrade';

export interface CoordinatorOptions {
  /** Told at each start; must answer with `resume`. */
  readonly onStarted: (context: ActorContext<CoordinatorMessage>) => void;
  readonly onDecision: (decision: Decision, context: ActorContext<CoordinatorMessage>) => void;
}

interface Running {
  readonly kind: 'running';
  readonly active: boolean;
  readonly params: CoordinatorParams;
  readonly coordinator: CoordinatorState;
  /** Ticks are counted up to here, a whole number of ms. */
  readonly tickedToMs: number;
  /** Set while a downgrade is ahead: at its deadline, or before when BUSY has put it off. */
  readonly alarm: { readonly timer: TimerId; readonly atMs: number } | undefined;
}

export type CoordinatorActorState =
  | { readonly kind: 'waiting'; readonly sawBusy: boolean }
  | Running;

/**
 * Gives the coordinator its ticks: not one by one, but all that have passed whenever something happens, and an alarm at
 * the next downgrade. A thread with nothing to relax is never woken, and BUSY at any rate costs one alarm per quiet time.
 */
export function createCoordinatorBehavior(
  options: CoordinatorOptions,
): Behavior<CoordinatorActorState, CoordinatorMessage> {
  return {
    initialState: () => ({ kind: 'waiting', sawBusy: false }),
    receive(state, message, context) {
      if (message.kind === 'resume') return resume(state, message, options, context);
      if (state.kind === 'waiting') {
        // Restarted, and not told yet what stands: BUSY is kept until then.
        return message.kind === 'busy' ? { kind: 'waiting', sawBusy: true } : state;
      }
      return rearm(react(state, message, options, context), context);
    },
    onSignal(state, signal, context) {
      if (signal.kind === 'started') options.onStarted(context);
      return state;
    },
  };
}

type Context = ActorContext<CoordinatorMessage>;

function resume(
  state: CoordinatorActorState,
  { active, params, pendingUpgrades }: Extract<CoordinatorMessage, { kind: 'resume' }>,
  options: CoordinatorOptions,
  context: Context,
): Running {
  const running: Running = {
    kind: 'running',
    active,
    params,
    coordinator: active && pendingUpgrades ? RESTORED_COORDINATOR : INITIAL_COORDINATOR,
    tickedToMs: Math.floor(context.nowMs()),
    alarm: state.kind === 'running' ? state.alarm : undefined,
  };
  const sawBusy = state.kind === 'waiting' && state.sawBusy;
  return rearm(sawBusy ? onBusy(running, options, context) : running, context);
}

function react(
  state: Running,
  message: Exclude<CoordinatorMessage, { kind: 'resume' }>,
  options: CoordinatorOptions,
  context: Context,
): Running {
  switch (message.kind) {
    case 'busy':
      return onBusy(passTime(state, options, context), options, context);
    case 'pending':
      return { ...state, coordinator: setPendingUpgrades(state.coordinator, message.value) };
    case 'quiet':
      return passTime({ ...state, alarm: undefined }, options, context);
    case 'configure': {
      const { active, params } = message;
      const passed = passTime(state, options, context);
      const coordinator = active === state.active ? passed.coordinator : INITIAL_COORDINATOR;
      return { ...passed, active, params, coordinator };
    }
  }
}

function onBusy(state: Running, options: CoordinatorOptions, context: Context): Running {
  if (!state.active) return state;
  const { state: coordinator, upgrade } = busy(state.coordinator, state.params);
  if (upgrade) options.onDecision('upgrade', context);
  return { ...state, coordinator };
}

function passTime(state: Running, options: CoordinatorOptions, context: Context): Running {
  const nowMs = Math.floor(context.nowMs());
  const { state: coordinator, downgrade } = tick(
    state.coordinator,
    state.params,
    nowMs - state.tickedToMs,
  );
  if (downgrade) options.onDecision('downgrade', context);
  return { ...state, coordinator, tickedToMs: nowMs };
}

function rearm(state: Running, context: Context): Running {
  const ticks = ticksToDowngrade(state.coordinator, state.params);
  if (ticks === undefined) {
    if (state.alarm !== undefined) context.cancel(state.alarm.timer);
    return state.alarm === undefined ? state : { ...state, alarm: undefined };
  }
  const atMs = state.tickedToMs + ticks;
  if (state.alarm !== undefined) {
    // An alarm that comes too early finds nothing due and is set anew: cheaper than moving it at every BUSY.
    if (state.alarm.atMs <= atMs) return state;
    context.cancel(state.alarm.timer);
  }
  const timer = context.after(Math.max(0, atMs - context.nowMs()), { kind: 'quiet' });
  return { ...state, alarm: { timer, atMs } };
}
