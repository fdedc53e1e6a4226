import type { ActorSystem } from '../core/actor-system.js';
import { type BreakerMemory, createBreakerBehavior } from './breaker-actor.js';
import type { BreakerConfig } from './breaker-config.js';
import type { BreakerEvent } from './breaker-event.js';
import type { CircuitPort, CircuitReport } from './ports.js';
import { ReportInbox } from './report-inbox.js';

export type BreakerTotals = Pick<BreakerMemory, 'probesLost' | 'evicted'>;

export interface BreakerPlaneOptions {
  readonly system: ActorSystem;
  readonly circuits: CircuitPort;
  readonly config: BreakerConfig;
  /** What a predecessor has left. */
  readonly totals?: BreakerTotals;
  /** Port: called after each change. What it throws harms nothing. */
  readonly onEvent?: (event: BreakerEvent) => void;
  /** Port: called when the totals have grown. */
  readonly onTotals?: (totals: BreakerTotals) => void;
}

/** The upkeep of the circuit breaker on the control thread. */
export interface BreakerPlane {
  /** A thread has reported something. */
  report(report: CircuitReport): void;
  /** A thread has ended: its probes are given up before this returns. */
  threadEnded(owner: number): void;
  /** In force with the next message. */
  configure(config: BreakerConfig): void;
  /** To be called now and then: circuits whose report was lost are found here. Costs next to nothing when none changed. */
  look(): void;
  /** Ends the actor; circuits stay as they are. */
  stop(): void;
}

/** The failure of a plane is the failure of the control thread: its owner starts a new one. */
const SUPERVISION = { maxRestarts: 5, withinMs: 60_000, whenExhausted: 'escalate' } as const;

export function startBreakerPlane(options: BreakerPlaneOptions): BreakerPlane {
  const { system, circuits, config, totals = { probesLost: 0, evicted: 0 } } = options;
  const inbox = new ReportInbox();
  const memory: BreakerMemory = { config, ...totals };
  let lookedAt = circuits.epoch();
  const harmless =
    <Value>(port: ((value: Value) => void) | undefined) =>
    (value: Value): void => {
      try {
        port?.(value);
      } catch {
        // The port's own affair.
      }
    };
  const breaker = system.spawn(
    createBreakerBehavior({
      circuits,
      inbox,
      memory,
      onEvent: harmless(options.onEvent),
      onTotals: harmless(options.onTotals),
    }),
    { name: 'breaker', supervision: SUPERVISION },
  );
  return {
    report(report) {
      if (inbox.add(report)) system.tell(breaker, { kind: 'reported' });
    },
    threadEnded(owner) {
      const addresses = circuits.releaseOwned(owner);
      if (addresses.length > 0) system.tell(breaker, { kind: 'released', addresses });
    },
    configure(next) {
      system.tell(breaker, { kind: 'configure', config: next });
    },
    look() {
      const epoch = circuits.epoch();
      if (epoch === lookedAt) return;
      lookedAt = epoch;
      system.tell(breaker, { kind: 'look' });
    },
    stop() {
      system.stopActor(breaker);
    },
  };
}
