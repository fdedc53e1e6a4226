import type { AskOutcome } from '../core/behavior.js';
import { type PairLimit, type PairRate, pairId } from './limit-action.js';
import type { ThrottleLevels } from './state-machine.js';
import { isActive, type ThrottleConfig } from './throttle-config.js';

export interface LimitedPair extends PairLimit {
  /** Calls per second in the window; 0 when nothing is known. */
  readonly currentQps: number;
}

/** Table-level back-pressure at one moment. */
export interface ThrottleSnapshot {
  readonly atMs: number;
  readonly active: boolean;
  readonly dryRun: boolean;
  /** Upgrades in force; 0: nothing is limited. */
  readonly level: number;
  readonly limits: readonly LimitedPair[];
  /** How many pairs each upgrade in force has changed, oldest first. */
  readonly changesPerLevel: readonly number[];
}

export function createSnapshot(
  { limits, history }: ThrottleLevels,
  config: ThrottleConfig,
  rates: AskOutcome<readonly PairRate[]>,
  atMs: number,
): ThrottleSnapshot {
  const rateOf = new Map(
    rates.ok ? rates.reply.map((pair) => [pairId(pair), pair.qps] as const) : [],
  );
  return {
    atMs,
    active: isActive(config),
    dryRun: config.dryRun,
    level: history.length,
    limits: [...limits.values()].map((limit) => ({
      ...limit,
      currentQps: rateOf.get(pairId(limit)) ?? 0,
    })),
    changesPerLevel: history.map(({ changes }) => changes.length),
  };
}
