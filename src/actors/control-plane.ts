import type { ActorSystem } from './core/actor-system.js';
import {
  createMetricsBehavior,
  type MetricsMessage,
  type ThrottleCounter,
  type ThrottleMetrics,
} from './metrics/metrics-actor.js';
import { BusyInbox } from './throttle/busy-inbox.js';
import type { LimitPort, PairSource } from './throttle/ports.js';
import type { UpgradeRecord } from './throttle/state-machine.js';
import { createThrottleBehavior } from './throttle/throttle-actor.js';
import { checkThrottleConfig, type ThrottleConfig } from './throttle/throttle-config.js';
import type { ThrottleEvent } from './throttle/throttle-event.js';
import type { ThrottleSnapshot } from './throttle/throttle-snapshot.js';
import type { ThrottleMemory, ThrottleMessage } from './throttle/throttle-state.js';

export interface ControlPlaneOptions {
  readonly system: ActorSystem;
  readonly source: PairSource;
  readonly limits: LimitPort;
  readonly config: ThrottleConfig;
  /** What a predecessor has left: its last `onHistory`, and totals to go on from. */
  readonly restored?: {
    readonly history?: readonly UpgradeRecord[];
    readonly totals?: Pick<ThrottleMetrics, ThrottleCounter>;
  };
  /** Port: called with plain data after each change of the history; keep the last, for `restored`. */
  readonly onHistory?: (history: readonly UpgradeRecord[]) => void;
  /** Port: called after each change. What it throws harms nothing. */
  readonly onEvent?: (event: ThrottleEvent) => void;
  /** Port: given the counters at most once a second, while they move or a 60 s window is not empty. */
  readonly onMetrics?: (metrics: ThrottleMetrics) => void;
  /** Time between samples, ms. Default 100, or what gives 100 samples a window if that is longer. */
  readonly sampleMs?: number;
  /** Pairs without a call for so long are dropped, ms. Default: the window, at least 60 s. */
  readonly idleMs?: number;
}

export interface ControlSnapshot extends ThrottleSnapshot {
  readonly metrics: ThrottleMetrics;
}

/** The management planes that run on the control thread. */
export interface ControlPlane {
  /** `count` BUSY answers came (an integer >= 1) since the last call: one signal, however many. */
  busy(count: number): void;
  /** In force with the next message. `RangeError` or `TypeError` for a bad one: the old one stays. */
  configure(config: ThrottleConfig): void;
  /** Rejects with `AskTimeoutError` or `ActorStoppedError` when the actors do not answer within a second. */
  snapshot(): Promise<ControlSnapshot>;
  /** Ends the actors; limits in force stay in force. */
  stop(): void;
}

const SNAPSHOT_TIMEOUT_MS = 1000;

/** The failure of a plane is the failure of the control thread: its owner starts a new one. */
const SUPERVISION = { maxRestarts: 5, withinMs: 60_000, whenExhausted: 'escalate' } as const;

/**
 * Starts registry, coordinator, throttle and metrics actors. An actor that fails is restarted with what is in force; one
 * that fails too often escalates, which the system reports through `onFatal`.
 */
export function startControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { system, source, limits, restored } = options;
  const config = checkThrottleConfig(options.config);
  const memory: ThrottleMemory = { config, history: restored?.history ?? [] };
  const inbox = new BusyInbox();
  let known = config;
  const harmless =
    <Value>(port: ((value: Value) => void) | undefined) =>
    (value: Value): void => {
      try {
        port?.(value);
      } catch {
        // The port's own affair.
      }
    };
  const { onMetrics } = options;
  const metrics = system.spawn(
    createMetricsBehavior({
      ...(restored?.totals === undefined ? {} : { totals: restored.totals }),
      ...(onMetrics === undefined ? {} : { publish: harmless(onMetrics) }),
    }),
    { name: 'metrics', supervision: SUPERVISION },
  );
  const throttle = system.spawn(
    createThrottleBehavior({
      source,
      limits,
      memory,
      inbox,
      metrics,
      sampleMs: options.sampleMs ?? defaultSampleMs(config.windowMs),
      idleMs: options.idleMs ?? Math.max(config.windowMs, 60_000),
      onHistory: harmless(options.onHistory),
      onEvent: harmless(options.onEvent),
    }),
    { name: 'throttle', supervision: SUPERVISION },
  );
  const timeoutMs = SNAPSHOT_TIMEOUT_MS;
  return {
    busy(count) {
      if (inbox.add(count)) system.tell(throttle, { kind: 'busy' });
    },
    configure(next) {
      known = checkThrottleConfig(next, known);
      system.tell(throttle, { kind: 'configure', config: known });
    },
    async snapshot() {
      const [levels, counters] = await Promise.all([
        system.ask<ThrottleMessage, ThrottleSnapshot>(
          throttle,
          (replyTo) => ({ kind: 'snapshot', replyTo }),
          { timeoutMs },
        ),
        system.ask<MetricsMessage, ThrottleMetrics>(
          metrics,
          (replyTo) => ({ kind: 'report', replyTo }),
          { timeoutMs },
        ),
      ]);
      return { ...levels, metrics: counters };
    },
    stop() {
      system.stopActor(throttle);
      system.stopActor(metrics);
    },
  };
}

/** Dense enough for a window of seconds, and bounded memory for one of hours. */
function defaultSampleMs(windowMs: number): number {
  return Math.max(Math.min(100, windowMs), windowMs / 100);
}
