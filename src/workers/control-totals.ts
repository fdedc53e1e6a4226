/**
 * What the control thread counts into the arena. The totals go on from those of its predecessor, so that they never go
 * down; who takes a snapshot asks no thread.
 */
import type { SystemStats } from '../actors/core/system-stats.js';
import type { ThrottleMetrics } from '../actors/metrics/metrics-actor.js';
import type { Arena } from '../shared/arena.js';
import { ACTOR_TOTALS, CIRCUIT_TOTALS, HEADER, TOTALS } from '../shared/layout.js';

export interface ThrottleTotals {
  readonly upgrades: number;
  readonly downgrades: number;
  readonly busy: number;
}

export interface CircuitUpkeepTotals {
  readonly probesLost: number;
  readonly evicted: number;
}

export class ControlTotals {
  readonly #arena: Arena;
  /** Of all predecessors. */
  readonly #actors: Readonly<Record<keyof typeof ACTOR_TOTALS, number>>;

  constructor(arena: Arena) {
    this.#arena = arena;
    const before = (total: keyof typeof ACTOR_TOTALS): number =>
      this.#read(HEADER.ACTOR_TOTALS + ACTOR_TOTALS[total]);
    this.#actors = {
      FAILURES: before('FAILURES'),
      OVERFLOWS: before('OVERFLOWS'),
      UNDELIVERED: before('UNDELIVERED'),
    };
    // Its predecessor's windows ended with it, and this one says nothing of its own before there is something to count.
    for (const window of [TOTALS.UPGRADES_60S, TOTALS.DOWNGRADES_60S, TOTALS.BUSY_60S])
      this.#write(HEADER.TOTALS + window * 8, 0);
  }

  throttle(): ThrottleTotals {
    const total = (index: number): number => this.#read(HEADER.TOTALS + index * 8);
    return {
      upgrades: total(TOTALS.UPGRADES),
      downgrades: total(TOTALS.DOWNGRADES),
      busy: total(TOTALS.BUSY),
    };
  }

  /** At once: the metrics actor publishes once a second, and a kill would take what it has not published. */
  countChange(kind: 'upgrade' | 'downgrade'): void {
    const at = HEADER.TOTALS + (kind === 'upgrade' ? TOTALS.UPGRADES : TOTALS.DOWNGRADES) * 8;
    this.#write(at, this.#read(at) + 1);
  }

  publishThrottle(metrics: ThrottleMetrics): void {
    const put = (index: number, value: number): void =>
      this.#write(HEADER.TOTALS + index * 8, value);
    put(TOTALS.BUSY, metrics.busy);
    put(TOTALS.UPGRADES_60S, metrics.upgrades60s);
    put(TOTALS.DOWNGRADES_60S, metrics.downgrades60s);
    put(TOTALS.BUSY_60S, metrics.busy60s);
  }

  circuits(): CircuitUpkeepTotals {
    return {
      probesLost: this.#read(HEADER.CIRCUIT_TOTALS + CIRCUIT_TOTALS.PROBES_LOST),
      evicted: this.#read(HEADER.CIRCUIT_TOTALS + CIRCUIT_TOTALS.EVICTED),
    };
  }

  publishCircuits({ probesLost, evicted }: CircuitUpkeepTotals): void {
    this.#write(HEADER.CIRCUIT_TOTALS + CIRCUIT_TOTALS.PROBES_LOST, probesLost);
    this.#write(HEADER.CIRCUIT_TOTALS + CIRCUIT_TOTALS.EVICTED, evicted);
  }

  /** A sign of life, and what has gone wrong among the actors of this thread so far. */
  publishActors(nowNs: number, { failures, deadLetters }: SystemStats): void {
    const overflows =
      deadLetters.rejected + deadLetters['dropped-newest'] + deadLetters['dropped-oldest'];
    const all = Object.values(deadLetters).reduce((sum, count) => sum + count, 0);
    const put = (total: keyof typeof ACTOR_TOTALS, count: number): void =>
      this.#write(HEADER.ACTOR_TOTALS + ACTOR_TOTALS[total], this.#actors[total] + count);
    put('FAILURES', failures);
    put('OVERFLOWS', overflows);
    put('UNDELIVERED', all - overflows);
    this.#write(HEADER.CONTROL_SEEN, nowNs);
  }

  #read(offset: number): number {
    return this.#arena.f64[offset >>> 3] as number;
  }

  #write(offset: number, value: number): void {
    this.#arena.f64[offset >>> 3] = value;
  }
}
