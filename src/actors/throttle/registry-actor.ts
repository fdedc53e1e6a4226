import type { ActorRef } from '../core/actor-ref.js';
import type { ActorContext, Behavior, TimerId } from '../core/behavior.js';
import type { PairKey, PairRate } from './limit-action.js';
import type { PairSource } from './ports.js';
import { QpsRegistry } from './qps-registry.js';

export type RegistryMessage =
  /** Begins or ends sampling. What was sampled before an end is forgotten. */
  | { readonly kind: 'switch'; readonly active: boolean }
  | { readonly kind: 'sample' }
  | {
      /** Asks for the `k` fastest pairs of each RPC type; unknown names have none. */
      readonly kind: 'hottest';
      readonly k: number;
      readonly rpcs: readonly string[];
      readonly replyTo: ActorRef<readonly PairRate[]>;
    }
  | {
      /** Asks for the rates of the given pairs, in their order. */
      readonly kind: 'rates';
      readonly pairs: readonly PairKey[];
      readonly replyTo: ActorRef<readonly PairRate[]>;
    };

export interface RegistryOptions {
  readonly source: PairSource;
  readonly windowMs: number;
  readonly sampleMs: number;
  /** Pairs without a call for so long are dropped, ms. */
  readonly idleMs: number;
  /** Told at each start, so that a restarted registry is switched on again. */
  readonly onStarted: (context: ActorContext<RegistryMessage>) => void;
}

export interface RegistryState {
  /** undefined while switched off: no memory, no timer. */
  readonly registry: QpsRegistry | undefined;
  readonly timer: TimerId | undefined;
  readonly sweptAtMs: number;
}

const SWEEP_EVERY_MS = 1000;

const OFF: RegistryState = Object.freeze({ registry: undefined, timer: undefined, sweptAtMs: 0 });

/** Samples every pair's counter, answers for rates and for the hottest pairs, drops idle ones. */
export function createRegistryBehavior(
  options: RegistryOptions,
): Behavior<RegistryState, RegistryMessage> {
  const { source } = options;
  return {
    initialState: () => OFF,
    receive(state, message, context) {
      switch (message.kind) {
        case 'switch':
          return message.active ? switchOn(state, options, context) : switchOff(state, context);
        case 'sample':
          return sample(state, options, context.nowMs());
        case 'hottest': {
          catchUp(state, options, context.nowMs());
          const rpcIds = message.rpcs
            .map((rpc) => source.rpcId(rpc))
            .filter((rpcId) => rpcId !== undefined);
          const pairs = state.registry?.hottest(message.k, rpcIds) ?? [];
          const rates = pairs.map(({ cell, qps }) => ({ ...source.describe(cell), qps }));
          context.tell(message.replyTo, rates);
          return state;
        }
        case 'rates': {
          const rates = message.pairs.map(({ rpc, table }) => {
            const cell = source.locate(rpc, table);
            const qps = cell === undefined ? 0 : (state.registry?.qps(cell) ?? 0);
            return { rpc, table, qps };
          });
          context.tell(message.replyTo, rates);
          return state;
        }
      }
    },
    onSignal(state, signal, context) {
      if (signal.kind === 'started') options.onStarted(context);
      return state;
    },
  };
}

function switchOn(
  state: RegistryState,
  { source, windowMs, sampleMs }: RegistryOptions,
  context: ActorContext<RegistryMessage>,
): RegistryState {
  if (state.registry !== undefined) return state;
  const registry = new QpsRegistry({ capacity: source.capacity, windowMs, sampleMs });
  registry.sample(source, context.nowMs());
  const timer = context.every(sampleMs, { kind: 'sample' });
  return { registry, timer, sweptAtMs: context.nowMs() };
}

function switchOff(state: RegistryState, context: ActorContext<RegistryMessage>): RegistryState {
  if (state.timer !== undefined) context.cancel(state.timer);
  return OFF;
}

/** After a stall the question may come before the sample that is due: what was called meanwhile is what is hot. */
function catchUp(
  { registry }: RegistryState,
  { source, sampleMs }: RegistryOptions,
  nowMs: number,
): void {
  const sampledAtMs = registry?.sampledAtMs;
  if (registry === undefined || sampledAtMs === undefined) return;
  if (nowMs - sampledAtMs > sampleMs) registry.sample(source, nowMs);
}

function sample(
  state: RegistryState,
  { source, idleMs }: RegistryOptions,
  nowMs: number,
): RegistryState {
  const { registry, sweptAtMs } = state;
  if (registry === undefined) return state;
  registry.sample(source, nowMs);
  if (nowMs - sweptAtMs < SWEEP_EVERY_MS) return state;
  registry.sweep(nowMs, idleMs, (cell, generation) => source.drop(cell, generation));
  return { ...state, sweptAtMs: nowMs };
}
