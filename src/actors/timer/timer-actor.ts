import type { ActorContext, Behavior, TimerId } from '../core/behavior.js';
import type { TimerDriver } from '../core/timer-driver.js';
import { MAX_TICK, TimingWheel, type WheelTimer } from './timing-wheel.js';

/** What the timer actor is told. Times are monotonic ms of the system's clock, possibly with a fraction. */
export type TimerMessage =
  | {
      readonly kind: 'schedule';
      readonly id: TimerId;
      readonly dueMs: number;
      /** Fires again every so many ms, in phase with `dueMs`; null: once. */
      readonly intervalMs: number | null;
    }
  | { readonly kind: 'cancel'; readonly id: TimerId }
  /** The driver's wake-up. */
  | { readonly kind: 'wake' };

export interface TimerPorts {
  readonly driver: TimerDriver;
  /** Tells the owner of a timer that it is due. */
  readonly fire: (id: TimerId) => void;
  /** Given to the driver: must bring a `wake` message to this actor. */
  readonly wake: () => void;
}

interface Entry {
  readonly id: TimerId;
  readonly dueMs: number;
  readonly intervalMs: number | null;
}

export interface TimerState {
  readonly wheel: TimingWheel<Entry>;
  readonly waiting: Map<TimerId, WheelTimer<Entry>>;
  /** Tick that the driver is armed for. */
  armedFor: number | undefined;
}

/**
 * All timers of a system in one timing wheel. A tick is 1 ms; a wake-up lets as many ticks pass as the clock says, so a
 * stall loses no time. Between deadlines it sleeps: the driver is armed for the next one only, and not at all when none
 * waits. A deadline never fires early: it is rounded up to a tick, the clock is rounded down.
 */
export function createTimerBehavior(ports: TimerPorts): Behavior<TimerState, TimerMessage> {
  return {
    initialState: () => ({ wheel: new TimingWheel(), waiting: new Map(), armedFor: undefined }),
    receive(state, message, context) {
      if (message.kind === 'wake') {
        state.armedFor = undefined;
        fireDue(state, ports, context);
      } else if (message.kind === 'cancel') {
        const timer = state.waiting.get(message.id);
        if (timer !== undefined) state.wheel.cancel(timer);
        state.waiting.delete(message.id);
      } else {
        place(state, message);
      }
      rearm(state, ports, context);
      return state;
    },
    onSignal(state, signal) {
      if (signal.kind === 'stopped') ports.driver.disarm();
      return state;
    },
  };
}

function place(state: TimerState, entry: Entry): void {
  const deadline = Math.min(Math.ceil(entry.dueMs), MAX_TICK);
  state.waiting.set(entry.id, state.wheel.schedule(deadline, entry));
}

function fireDue(state: TimerState, ports: TimerPorts, context: ActorContext<TimerMessage>): void {
  const nowMs = context.nowMs();
  for (const entry of state.wheel.advance(elapsedTicks(state, nowMs))) {
    state.waiting.delete(entry.id);
    if (entry.intervalMs !== null) place(state, nextRound(entry, entry.intervalMs, nowMs));
    ports.fire(entry.id);
  }
}

function elapsedTicks(state: TimerState, nowMs: number): number {
  return Math.max(0, Math.min(Math.floor(nowMs), MAX_TICK) - state.wheel.now);
}

/** The first time in phase that lies after now: rounds that a stall has missed are skipped. */
function nextRound(entry: Entry, intervalMs: number, nowMs: number): Entry {
  const rounds = Math.max(1, Math.floor((nowMs - entry.dueMs) / intervalMs) + 1);
  return { id: entry.id, dueMs: entry.dueMs + rounds * intervalMs, intervalMs };
}

function rearm(state: TimerState, ports: TimerPorts, context: ActorContext<TimerMessage>): void {
  const next = state.wheel.nextDeadline();
  if (next === state.armedFor) return;
  state.armedFor = next;
  if (next === undefined) ports.driver.disarm();
  else ports.driver.arm(Math.max(0, next - context.nowMs()), ports.wake);
}
