import { probeDeadlineMs } from '../../shared/breaker/admit-call.js';
import type { ActorContext, Behavior, TimerId } from '../core/behavior.js';
import { type BreakerConfig, sweepIntervalMs } from './breaker-config.js';
import type { BreakerEvent } from './breaker-event.js';
import type { CircuitPort, CircuitReport, CloseReason, ForgottenCircuit } from './ports.js';
import type { ReportInbox } from './report-inbox.js';

export type BreakerMessage =
  /** There is something in the inbox. */
  | { readonly kind: 'reported' }
  /** Circuits may have changed without a report. */
  | { readonly kind: 'look' }
  | { readonly kind: 'configure'; readonly config: BreakerConfig }
  /** The probes of a thread that has ended were given up. */
  | { readonly kind: 'released'; readonly addresses: readonly string[] }
  /** From its own timers. */
  | { readonly kind: 'sweep' }
  | { readonly kind: 'room' }
  | { readonly kind: 'overdue' };

/** What outlives an incarnation of the actor, and is kept up to date by it. */
export interface BreakerMemory {
  config: BreakerConfig;
  probesLost: number;
  evicted: number;
}

export interface BreakerOptions {
  readonly circuits: CircuitPort;
  readonly inbox: ReportInbox;
  readonly memory: BreakerMemory;
  readonly onEvent: (event: BreakerEvent) => void;
  /** Called when the counters of the memory have grown. */
  readonly onTotals: (memory: BreakerMemory) => void;
}

export interface BreakerState {
  /** Set while any circuit is kept. */
  readonly sweep: TimerId | undefined;
  /** Set while there may be too many. */
  readonly room: TimerId | undefined;
  readonly roomMadeAtMs: number;
  /** Set while a probe is out; at its deadline, or before when an earlier one has answered. */
  readonly overdue: { readonly timer: TimerId; readonly atMs: number } | undefined;
}

type Context = ActorContext<BreakerMessage>;

/** Making room looks at every circuit. The quarter more cells that there are carry a flood for so long. */
const ROOM_INTERVAL_MS = 10;

/**
 * Looks after the circuits that threads open and close by themselves: forgets idle ones, makes room, gives up probes that
 * nobody will settle, and says what has happened. Has a timer only while any circuit is kept.
 */
export function createBreakerBehavior(
  options: BreakerOptions,
): Behavior<BreakerState, BreakerMessage> {
  return {
    initialState: () => ({
      sweep: undefined,
      room: undefined,
      roomMadeAtMs: Number.NEGATIVE_INFINITY,
      overdue: undefined,
    }),
    receive: (state, message, context) => receive(state, message, options, context),
    // What a predecessor has left.
    onSignal: (state, signal, context) =>
      signal.kind === 'started'
        ? lookAround(tellAll(state, options, context), options, context)
        : state,
  };
}

function receive(
  state: BreakerState,
  message: BreakerMessage,
  options: BreakerOptions,
  context: Context,
): BreakerState {
  switch (message.kind) {
    case 'reported':
      return attend(tellAll(state, options, context), options, context);
    case 'look':
      return lookAround(state, options, context);
    case 'configure':
      return configure(state, message.config, options, context);
    case 'released':
      giveUp(message.addresses, options, context);
      return state;
    case 'sweep':
      return sweep({ ...state, sweep: undefined }, options, context);
    case 'room':
      return makeRoom({ ...state, room: undefined }, options, context);
    case 'overdue':
      return releaseOverdue({ ...state, overdue: undefined }, options, context);
  }
}

/** Publishes what was reported, and waits for the deadline of probes that went out. */
function tellAll(state: BreakerState, options: BreakerOptions, context: Context): BreakerState {
  let next = state;
  for (const report of options.inbox.take()) {
    const event = eventOf(report);
    if (event !== undefined) options.onEvent(event);
    if (report.kind !== 'half-open') continue;
    const deadlineMs = probeDeadlineMs({ probeAtMs: report.atMs }, options.memory.config);
    next = watchProbes(next, deadlineMs, context);
  }
  return next;
}

function eventOf(report: CircuitReport): BreakerEvent | undefined {
  switch (report.kind) {
    case 'tracked':
      return undefined;
    case 'opened':
      return { ...report, kind: 'circuit-open' };
    case 'half-open':
      return { ...report, kind: 'circuit-half-open' };
    case 'closed':
      return { ...report, kind: 'circuit-closed' };
  }
}

/** Sees to it that there is room, and that what is kept will be looked at again. */
function attend(state: BreakerState, options: BreakerOptions, context: Context): BreakerState {
  const { circuits, memory } = options;
  const size = circuits.size();
  if (size === 0) return state;
  const sweepAt =
    state.sweep ?? context.after(sweepIntervalMs(memory.config), { kind: 'sweep' } as const);
  const armed = { ...state, sweep: sweepAt };
  if (size <= memory.config.maxAddresses || state.room !== undefined) return armed;
  const waitMs = state.roomMadeAtMs + ROOM_INTERVAL_MS - context.nowMs();
  if (waitMs <= 0) return makeRoom(armed, options, context);
  return { ...armed, room: context.after(waitMs, { kind: 'room' }) };
}

function lookAround(state: BreakerState, options: BreakerOptions, context: Context): BreakerState {
  if (!options.memory.config.enabled) {
    forget(options.circuits.clear(), 'off', options, context);
    return state;
  }
  if (options.circuits.size() === 0) return state;
  return releaseOverdue(attend(state, options, context), options, context);
}

function configure(
  state: BreakerState,
  config: BreakerConfig,
  options: BreakerOptions,
  context: Context,
): BreakerState {
  const before = options.memory.config;
  options.memory.config = config;
  if (config.windowMs !== before.windowMs) options.circuits.clearWindows();
  if (state.sweep === undefined || config.idleMs === before.idleMs)
    return lookAround(state, options, context);
  context.cancel(state.sweep);
  return lookAround({ ...state, sweep: undefined }, options, context);
}

function sweep(state: BreakerState, options: BreakerOptions, context: Context): BreakerState {
  const { circuits, memory } = options;
  const { forgotten, kept } = circuits.sweep(memory.config, context.nowMs());
  forget(forgotten, 'idle', options, context);
  if (kept === 0) return state;
  return { ...state, sweep: context.after(sweepIntervalMs(memory.config), { kind: 'sweep' }) };
}

function makeRoom(state: BreakerState, options: BreakerOptions, context: Context): BreakerState {
  const { circuits, memory, onTotals } = options;
  const forgotten = circuits.makeRoom(memory.config.maxAddresses);
  if (forgotten.length > 0) {
    memory.evicted += forgotten.length;
    onTotals(memory);
    forget(forgotten, 'evicted', options, context);
  }
  return { ...state, roomMadeAtMs: context.nowMs() };
}

function releaseOverdue(
  state: BreakerState,
  options: BreakerOptions,
  context: Context,
): BreakerState {
  const { circuits, memory } = options;
  const { lost, nextMs } = circuits.releaseOverdue(memory.config, context.nowMs());
  giveUp(lost, options, context);
  return nextMs === undefined ? state : watchProbes(state, nextMs, context);
}

function watchProbes(state: BreakerState, atMs: number, context: Context): BreakerState {
  if (state.overdue !== undefined) {
    // An alarm that comes too early finds nothing overdue and is set anew.
    if (state.overdue.atMs <= atMs) return state;
    context.cancel(state.overdue.timer);
  }
  const delayMs = Math.max(atMs - context.nowMs(), 0);
  return { ...state, overdue: { timer: context.after(delayMs, { kind: 'overdue' }), atMs } };
}

function giveUp(
  addresses: readonly string[],
  { memory, onEvent, onTotals }: BreakerOptions,
  context: Context,
): void {
  if (addresses.length === 0) return;
  memory.probesLost += addresses.length;
  onTotals(memory);
  const atMs = context.nowMs();
  for (const address of addresses) {
    const about = { reason: 'probe-lost', failures: 0, retryAfterMs: 0, atMs } as const;
    onEvent({ kind: 'circuit-open', address, ...about });
  }
}

function forget(
  circuits: readonly ForgottenCircuit[],
  reason: CloseReason,
  { onEvent }: BreakerOptions,
  context: Context,
): void {
  const atMs = context.nowMs();
  for (const { address, wasOpen } of circuits) {
    if (wasOpen) onEvent({ kind: 'circuit-closed', address, reason, atMs });
  }
}
