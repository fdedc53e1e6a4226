import type { ActorRef } from '../core/actor-ref.js';
import type { ActorContext, AskOutcome, Behavior } from '../core/behavior.js';
import { BusyWitness } from './busy-witness.js';
import { createCoordinatorBehavior, type Decision } from './coordinator-actor.js';
import { count, enact } from './enact.js';
import type { PairRate } from './limit-action.js';
import { createRegistryBehavior, type RegistryMessage } from './registry-actor.js';
import { type RestoredLevels, restoreLevels } from './restore-levels.js';
import { downgrade, liftAll, upgrade } from './state-machine.js';
import { coordinatorParams, isActive, type ThrottleConfig } from './throttle-config.js';
import { createSnapshot, type ThrottleSnapshot } from './throttle-snapshot.js';
import type { Decided, ThrottleMessage, ThrottleOptions, ThrottleState } from './throttle-state.js';

type Context = ActorContext<ThrottleMessage>;

/** The registry answers in its next turn; it is silent only when it is being restarted. */
const REGISTRY_TIMEOUT_MS = 1000;

/**
 * Wires registry, coordinator and state machine to the limiters. It owns both actors; each tells it when it starts and
 * is then told what stands, so that a restart of any of the three leaves a working whole. Its own state after a restart
 * comes from what is in force.
 */
export function createThrottleBehavior(
  options: ThrottleOptions,
): Behavior<ThrottleState, ThrottleMessage> {
  return {
    initialState: () => {
      const restored = restoreLevels(options.memory.history, options.limits.inForce());
      return {
        levels: restored.state,
        restored,
        registry: undefined,
        coordinator: undefined,
        upgrading: 'no',
        deferred: [],
        witness: new BusyWitness(options.memory.config.upgradeIntervalMs),
      };
    },
    receive: (state, message, context) => receive(state, message, options, context),
    onSignal: (state, signal, context) =>
      signal.kind === 'started' ? start(state, options, context) : state,
  };
}

function start(state: ThrottleState, options: ThrottleOptions, context: Context): ThrottleState {
  const { source, memory, sampleMs, idleMs } = options;
  const { self } = context;
  const registry = context.spawn(
    createRegistryBehavior({
      source,
      windowMs: memory.config.windowMs,
      sampleMs,
      idleMs,
      onStarted: (child) => child.tell(self, { kind: 'registry-started' }),
    }),
    { name: 'registry' },
  );
  const coordinator = context.spawn(
    createCoordinatorBehavior({
      onStarted: (child) => child.tell(self, { kind: 'coordinator-started' }),
      onDecision: (decision, child) => child.tell(self, { kind: 'decided', decision }),
    }),
    { name: 'coordinator' },
  );
  const running = { ...state, registry, coordinator, restored: undefined };
  state.witness.begin(context.nowMs());
  announce(state.restored, options, context);
  return isActive(memory.config) ? running : lift(running, options, context);
}

/** Says what a start has found, and brings the owner's copy of the history up to date. */
function announce(
  restored: RestoredLevels | undefined,
  { memory, onHistory, onEvent }: ThrottleOptions,
  context: Context,
): void {
  if (restored === undefined) return;
  const { state, unrecorded, obsolete } = restored;
  memory.history = state.history;
  if (unrecorded + obsolete > 0) onHistory(state.history);
  const level = state.history.length;
  onEvent({ kind: 'restored', level, unrecorded, obsolete, atMs: context.nowMs() });
}

function receive(
  state: ThrottleState,
  message: ThrottleMessage,
  options: ThrottleOptions,
  context: Context,
): ThrottleState {
  const { memory } = options;
  switch (message.kind) {
    case 'busy':
      hearBusy(state, options, context);
      return state;
    case 'configure':
      return configure(state, message.config, options, context);
    case 'snapshot':
      askRates(state, message.replyTo, context);
      return state;
    case 'rated':
      context.tell(
        message.replyTo,
        createSnapshot(state.levels, memory.config, message.outcome, context.nowMs()),
      );
      return state;
    case 'registry-started':
      if (state.registry !== undefined) {
        context.tell(state.registry, { kind: 'switch', active: isActive(memory.config) });
      }
      return state;
    case 'coordinator-started':
      if (state.coordinator !== undefined) {
        context.tell(state.coordinator, {
          kind: 'resume',
          active: isActive(memory.config),
          params: coordinatorParams(memory.config),
          pendingUpgrades: state.levels.history.length > 0,
        });
      }
      return state;
    case 'decided':
      return decide(state, explain(message.decision, state, context), options, context);
    case 'hottest':
      return finishUpgrade(state, message.outcome, options, context);
  }
}

function hearBusy(state: ThrottleState, options: ThrottleOptions, context: Context): void {
  const answers = options.inbox.take();
  count(options, context, 'busy', answers);
  state.witness.hear(answers, context.nowMs());
  if (state.coordinator !== undefined) context.tell(state.coordinator, { kind: 'busy' });
}

function explain(decision: Decision, { witness }: ThrottleState, context: Context): Decided {
  return { decision, reason: witness.reasonOf(decision, context.nowMs()) };
}

function configure(
  state: ThrottleState,
  config: ThrottleConfig,
  options: ThrottleOptions,
  context: Context,
): ThrottleState {
  const wasActive = isActive(options.memory.config);
  const active = isActive(config);
  options.memory.config = config;
  state.witness.configure(config.upgradeIntervalMs);
  if (state.registry !== undefined) context.tell(state.registry, { kind: 'switch', active });
  if (state.coordinator !== undefined) {
    context.tell(state.coordinator, {
      kind: 'configure',
      active,
      params: coordinatorParams(config),
    });
  }
  return wasActive && !active ? lift(state, options, context) : state;
}

/** Switched off: nobody is to wait any more, and what was not undone is forgotten. */
function lift(state: ThrottleState, options: ThrottleOptions, context: Context): ThrottleState {
  const upgrading = state.upgrading === 'no' ? 'no' : 'void';
  const lifted: ThrottleState = { ...state, upgrading, deferred: [] };
  if (state.levels.history.length === 0) return lifted;
  const transition = liftAll(state.levels);
  return enact(
    lifted,
    { kind: 'lifted', transition, reason: { kind: 'switched-off' } },
    options,
    context,
  );
}

function decide(
  state: ThrottleState,
  next: Decided,
  options: ThrottleOptions,
  context: Context,
): ThrottleState {
  const { decision, reason } = next;
  const { config } = options.memory;
  // Decided before the switch was turned off.
  if (!isActive(config)) return state;
  if (state.upgrading !== 'no') {
    // Upgrades that are due at the same moment are one, as BUSY answers are; so the list stays short.
    const isRepeated = decision === 'upgrade' && state.deferred.at(-1)?.decision === 'upgrade';
    return isRepeated ? state : { ...state, deferred: [...state.deferred, next] };
  }
  if (decision === 'downgrade') {
    const transition = downgrade(state.levels);
    return enact(state, { kind: 'downgrade', transition, reason }, options, context);
  }
  if (state.registry === undefined) return state;
  context.ask<RegistryMessage, readonly PairRate[]>(
    state.registry,
    (replyTo) => ({ kind: 'hottest', k: config.topK, rpcs: config.rpcs, replyTo }),
    {
      timeoutMs: REGISTRY_TIMEOUT_MS,
      onOutcome: (outcome) => ({ kind: 'hottest', outcome }),
    },
  );
  return { ...state, upgrading: next };
}

function finishUpgrade(
  state: ThrottleState,
  outcome: AskOutcome<readonly PairRate[]>,
  options: ThrottleOptions,
  context: Context,
): ThrottleState {
  const [next, ...deferred] = state.deferred;
  let finished: ThrottleState = { ...state, upgrading: 'no', deferred: [] };
  if (typeof state.upgrading === 'object') {
    // Without an answer nothing is known to be hot; the upgrade stands, empty.
    const rates = outcome.ok ? outcome.reply : [];
    const transition = upgrade(state.levels, rates, options.memory.config);
    const { reason } = state.upgrading;
    finished = enact(finished, { kind: 'upgrade', transition, reason, rates }, options, context);
  }
  if (next === undefined) return finished;
  let continued = decide(finished, next, options, context);
  for (const decision of deferred) continued = decide(continued, decision, options, context);
  return continued;
}

function askRates(
  state: ThrottleState,
  replyTo: ActorRef<ThrottleSnapshot>,
  context: Context,
): void {
  if (state.registry === undefined) return;
  const pairs = [...state.levels.limits.values()];
  context.ask<RegistryMessage, readonly PairRate[]>(
    state.registry,
    (ratesTo) => ({ kind: 'rates', pairs, replyTo: ratesTo }),
    {
      timeoutMs: REGISTRY_TIMEOUT_MS,
      onOutcome: (outcome) => ({ kind: 'rated', replyTo, outcome }),
    },
  );
}
