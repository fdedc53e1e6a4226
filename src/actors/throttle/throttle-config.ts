import type { CoordinatorParams } from './coordinator.js';

/** Table-level back-pressure, resolved: the `tables` section of the options. */
export interface ThrottleConfig {
  readonly enabled: boolean;
  /** Everything is decided, recorded and shown, nobody waits; also together with `enabled`. */
  readonly dryRun: boolean;
  /** Rates are averages over this, ms. Does not change while the actors live. */
  readonly windowMs: number;
  readonly upgradeIntervalMs: number;
  readonly downgradeIntervalMs: number;
  /** Pairs per load-related RPC type that an upgrade looks at. */
  readonly topK: number;
  readonly ratio: number;
  readonly floorQps: number;
  /** Names of the load-related RPC types. */
  readonly rpcs: readonly string[];
}

/** Whether rates are sampled and BUSY is answered at all. */
export function isActive({ enabled, dryRun }: ThrottleConfig): boolean {
  return enabled || dryRun;
}

/** A tick of the coordinator is 1 ms. */
export function coordinatorParams(config: ThrottleConfig): CoordinatorParams {
  return {
    upgradeCooldownTicks: Math.ceil(config.upgradeIntervalMs),
    downgradeAfterTicks: Math.ceil(config.downgradeIntervalMs),
  };
}

/** A frozen copy. `RangeError` or `TypeError` with field, rule and what came; `previous` is what must not change. */
export function checkThrottleConfig(
  config: ThrottleConfig,
  previous?: ThrottleConfig,
): ThrottleConfig {
  const flag = (name: 'enabled' | 'dryRun'): boolean => {
    if (typeof config[name] === 'boolean') return config[name];
    throw new TypeError(`${name} must be a boolean, got ${String(config[name])}`);
  };
  const { windowMs, topK, ratio, rpcs } = config;
  if (previous !== undefined && windowMs !== previous.windowMs) {
    throw new RangeError(`windowMs cannot change from ${previous.windowMs}, got ${windowMs}`);
  }
  if (!Number.isInteger(topK) || topK < 0) {
    throw new RangeError(`topK must be an integer >= 0, got ${String(topK)}`);
  }
  if (!(ratio > 0 && ratio <= 1)) {
    throw new RangeError(`ratio must be above 0 and at most 1, got ${String(ratio)}`);
  }
  if (!Array.isArray(rpcs) || rpcs.some((rpc) => typeof rpc !== 'string')) {
    throw new TypeError(`rpcs must be an array of strings, got ${String(rpcs)}`);
  }
  return Object.freeze({
    enabled: flag('enabled'),
    dryRun: flag('dryRun'),
    windowMs: finite('windowMs', windowMs, 1),
    upgradeIntervalMs: finite('upgradeIntervalMs', config.upgradeIntervalMs, 0),
    downgradeIntervalMs: finite('downgradeIntervalMs', config.downgradeIntervalMs, 0),
    topK,
    ratio,
    floorQps: finite('floorQps', config.floorQps, Number.MIN_VALUE),
    rpcs: Object.freeze([...rpcs]),
  });
}

function finite(name: string, value: number, least: number): number {
  if (Number.isFinite(value) && value >= least && value <= Number.MAX_SAFE_INTEGER) return value;
  const rule = least === Number.MIN_VALUE ? '> 0' : `>= ${least}`;
  throw new RangeError(`${name} must be a finite number ${rule}, got ${String(value)}`);
}
