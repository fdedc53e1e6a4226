import type { ActorRef } from '../core/actor-ref.js';
import type { AskOutcome } from '../core/behavior.js';
import type { MetricsMessage } from '../metrics/metrics-actor.js';
import type { BusyInbox } from './busy-inbox.js';
import type { BusyWitness } from './busy-witness.js';
import type { CoordinatorMessage, Decision } from './coordinator-actor.js';
import type { PairRate } from './limit-action.js';
import type { LimitPort, PairSource } from './ports.js';
import type { RegistryMessage } from './registry-actor.js';
import type { RestoredLevels } from './restore-levels.js';
import type { ThrottleLevels, UpgradeRecord } from './state-machine.js';
import type { ThrottleConfig } from './throttle-config.js';
import type { ThrottleEvent } from './throttle-event.js';
import type { ThrottleReason } from './throttle-reason.js';
import type { ThrottleSnapshot } from './throttle-snapshot.js';

export type ThrottleMessage =
  /** BUSY answers are in the inbox: one signal to the coordinator, however many. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'configure'; readonly config: ThrottleConfig }
  | { readonly kind: 'snapshot'; readonly replyTo: ActorRef<ThrottleSnapshot> }
  /** From its own parts. */
  | { readonly kind: 'registry-started' }
  | { readonly kind: 'coordinator-started' }
  | { readonly kind: 'decided'; readonly decision: Decision }
  | { readonly kind: 'hottest'; readonly outcome: AskOutcome<readonly PairRate[]> }
  | {
      readonly kind: 'rated';
      readonly replyTo: ActorRef<ThrottleSnapshot>;
      readonly outcome: AskOutcome<readonly PairRate[]>;
    };

/** What outlives an incarnation of the throttle actor, and is kept up to date by it. */
export interface ThrottleMemory {
  config: ThrottleConfig;
  history: readonly UpgradeRecord[];
}

export interface ThrottleOptions {
  readonly source: PairSource;
  readonly limits: LimitPort;
  readonly memory: ThrottleMemory;
  readonly inbox: BusyInbox;
  readonly metrics: ActorRef<MetricsMessage>;
  readonly sampleMs: number;
  readonly idleMs: number;
  /** Called after each change of the history. */
  readonly onHistory: (history: readonly UpgradeRecord[]) => void;
  readonly onEvent: (event: ThrottleEvent) => void;
}

/** A decision with what it was made of. */
export interface Decided {
  readonly decision: Decision;
  readonly reason: ThrottleReason;
}

export interface ThrottleState {
  readonly levels: ThrottleLevels;
  /** What the start found; undefined once it was announced. */
  readonly restored: RestoredLevels | undefined;
  readonly registry: ActorRef<RegistryMessage> | undefined;
  readonly coordinator: ActorRef<CoordinatorMessage> | undefined;
  /**
   * The upgrade that waits for its snapshot; decisions that come meanwhile are done after it, in order. `void`: it was decided
   * before a switch was turned off, and will limit nothing.
   */
  readonly upgrading: 'no' | 'void' | Decided;
  readonly deferred: readonly Decided[];
  readonly witness: BusyWitness;
}
