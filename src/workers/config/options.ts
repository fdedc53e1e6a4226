import type { RetriableKind } from '../../shared/verdict.js';
import type { Logger } from '../state/logger.js';

/** What callers may give: in this package's spelling (nested) or in Doris' (flat), also mixed. */

/** `precise` reads a monotonic clock for every decision, `coarse` a word that is at most some ms old. */
export type ClockKind = 'precise' | 'coarse';

export type PresetName = 'dorisMetaService';

export interface RpcOptions {
  /** Calls per second and core; -1: as `host.qpsPerCore` says (default); 0: no limit. */
  readonly qpsPerCore?: number;
  /** Permits of a full bucket, an integer. Default: one second of the process' rate, rounded up. */
  readonly burst?: number;
  /** Default: `precise`. */
  readonly clock?: ClockKind;
}

export interface HostOptions<Rpc = RpcOptions> {
  /** Default: true. */
  readonly enabled?: boolean;
  /** Record the waits, make nobody wait. Default: false. */
  readonly dryRun?: boolean;
  /** Calls per second and core of each RPC type. Default: 100. */
  readonly qpsPerCore?: number;
  /** Per RPC type. What is named here is known; what is known but not named here takes the defaults. */
  readonly rpcs?: Readonly<Record<string, Rpc>>;
}

export interface TableOptions {
  /** Default: false. */
  readonly enabled?: boolean;
  /** Decide, record and show, make nobody wait. Default: false. */
  readonly dryRun?: boolean;
  /** Over which time a table's rate is measured, ms. Cannot change at run time. Default: 3000. */
  readonly windowMs?: number;
  /** Shortest time between two upgrades, ms. Default: 3000. */
  readonly upgradeIntervalMs?: number;
  /** Time without BUSY before a level is released, ms. Default: 3000. */
  readonly downgradeIntervalMs?: number;
  /** Tables per RPC type that an upgrade slows. Default: 2. */
  readonly topK?: number;
  /** New limit = old limit (or rate) x ratio. Default: 0.75. */
  readonly ratio?: number;
  /** No table's limit falls below it, calls per second. Default: 1. */
  readonly floorQps?: number;
  /** The RPC types that are slowed per table. Default: those of the preset, else none. */
  readonly rpcs?: readonly string[];
}

export interface WaitingOptions {
  /** Longest wait of one call over all stages, ms; 0: never wait. Default: 10,000. */
  readonly maxWaitMs?: number;
  /** Longest queue per limiter and thread. Default: 10,000. */
  readonly maxWaiters?: number;
}

/** What bounds a call and its attempts. A call may say otherwise, see `CallOptions`. */
export interface RetryOptions {
  /** Attempts of one call, the first included. Default: 1, because nobody but the caller knows what may be done twice. */
  readonly maxAttempts?: number;
  /** Upper bound of the first backoff, ms; doubles with each attempt, and the backoff is drawn from 0 to it. Default: 50. */
  readonly baseDelayMs?: number;
  /** Upper bound of every backoff, ms. Default: 2000. */
  readonly maxDelayMs?: number;
  /** Longest hint of the downstream that is waited for, ms; a longer one ends the retrying. Default: 10,000. */
  readonly maxRetryAfterMs?: number;
  /** Verdicts that another attempt may follow. Default: all three. */
  readonly on?: readonly RetriableKind[];
  /** From the begin of a call to its end, all waits and attempts included, ms; 0: no bound. Default: 0. */
  readonly deadlineMs?: number;
  /** Of each attempt, ms; 0: no bound. Default: 0. */
  readonly attemptTimeoutMs?: number;
  /** Retries per call that an RPC type's budget in a thread allows, 0 to 1. Default: 0.2. */
  readonly budgetRatio?: number;
  /** Retries per second that it allows whatever the calls. Default: 1. */
  readonly budgetPerSecond?: number;
  /** Retries that can be saved up, an integer >= 1. Default: 10. */
  readonly budgetBurst?: number;
}

/** How `gate.readFromPeers` reads. */
export interface PeerOptions {
  /** Until a read must have its connection, ms; 0: no bound. Default: 200. */
  readonly connectTimeoutMs?: number;
  /** Further tries of a candidate that could not be connected to in time. Default: 0. */
  readonly connectRetries?: number;
}

/** The circuits of the addresses that calls name. */
export interface BreakerOptions {
  /** Default: true; without effect on calls that name no address. */
  readonly enabled?: boolean;
  /** Failures in a row that open a circuit. Default: 3. */
  readonly failureThreshold?: number;
  /** From its opening to its first probe, ms. Default: 30,000. */
  readonly cooldownMs?: number;
  /** A probe that has not answered after this, ms, is lost, and the next call is the probe. Default: 10,000. */
  readonly probeTimeoutMs?: number;
  /** Addresses that may be unhealthy at one time. Can be lowered at run time, and raised again to what it was. Default: 10,000. */
  readonly maxAddresses?: number;
  /** An unhealthy address that nothing was heard of for so long, ms, is forgotten. Default: 60,000. */
  readonly idleMs?: number;
  /** Each failed probe multiplies the cooldown by it. Default: 1, it does not grow. */
  readonly cooldownFactor?: number;
  /** No cooldown grows beyond it, ms. Default: 300,000. */
  readonly maxCooldownMs?: number;
  /** Share of a cooldown, 0 to 1, of which a part that differs from opening to opening is left out. Default: 0. */
  readonly jitter?: number;
  /** Probes in a row that must succeed before a circuit closes. Default: 1. */
  readonly probesToClose?: number;
  /** Above 0: instead of failures in a row, their share of the outcomes in the window opens a circuit. Default: 0. */
  readonly failureRate?: number;
  /** Length of that window, ms. Default: 10,000. */
  readonly windowMs?: number;
  /** Outcomes in the window below which the share says nothing. Default: 20. */
  readonly minimumCalls?: number;
}

/** The pressure windows of the buckets that calls name. */
export interface PressureOptions {
  /** How long a bucket is left alone at a pressure of 1, ms; at p it is this x p^2. 0: no windows. Default: 3000. */
  readonly maxThrottleMs?: number;
}

/** Sizes of the arena. Cannot change at run time. */
export interface CapacityOptions {
  /** Threads attached at one time. Default: 64. */
  readonly threads?: number;
  /** RPC types. Default: 64. */
  readonly rpcs?: number;
  /** Tracked (RPC type, table) pairs. Default: 16,384. */
  readonly pairs?: number;
}

export interface HouseOptions<Rpc = RpcOptions> {
  /** Identifies this process in `backend_ms_rpc_table_throttlers`. Default: none. */
  readonly backendId?: number | bigint;
  /** Names RPC types so that nobody has to. Default: none. */
  readonly preset?: PresetName;
  /** A file with more options: JSON, or `name = value` lines. What is given in code wins. Default: none. */
  readonly configFile?: string;
  readonly host?: HostOptions<Rpc>;
  readonly tables?: TableOptions;
  readonly waiting?: WaitingOptions;
  readonly retry?: RetryOptions;
  readonly peers?: PeerOptions;
  readonly breaker?: BreakerOptions;
  readonly pressure?: PressureOptions;
  readonly capacity?: CapacityOptions;
}

/** Doris', and Fluss', names of the same options. Giving both spellings is fine as long as they agree. */
export interface SeedOptions {
  /** `host.enabled` */
  readonly enable_ms_rpc_host_level_rate_limit?: boolean;
  /** `ms_rpc_qps_default` is `host.qpsPerCore`, `ms_rpc_qps_(rpc)` is `host.rpcs[rpc].qpsPerCore`. */
  readonly [qps: `ms_rpc_qps_${string}`]: number;
  /** `tables.enabled` */
  readonly enable_ms_backpressure_handling?: boolean;
  /** `tables.windowMs`, in seconds */
  readonly ms_rpc_table_qps_window_sec?: number;
  /** `tables.upgradeIntervalMs` */
  readonly ms_backpressure_upgrade_interval_ms?: number;
  /** `tables.downgradeIntervalMs` */
  readonly ms_backpressure_downgrade_interval_ms?: number;
  /** `tables.topK` */
  readonly ms_backpressure_upgrade_top_k?: number;
  /** `tables.ratio` */
  readonly ms_backpressure_throttle_ratio?: number;
  /** `tables.floorQps` */
  readonly ms_rpc_table_qps_limit_floor?: number;
  /** `pressure.maxThrottleMs`: ms, or a text with a unit, `3s` */
  readonly 'client.writer.kv-backpressure.max-throttle'?: number | string;
}

export interface RuntimeOptions extends HouseOptions, SeedOptions {
  /** Is told of events, in the owner's thread; pino's, or the like. In code only. Default: none. */
  readonly logger?: Logger;
}

/**
 * A change at run time: what is not named stays. An override of an RPC type is merged field by field, `null` takes the
 * whole override back. Options that cannot change may be named with the value that they have.
 */
export interface ConfigPatch extends HouseOptions<RpcOptions | null>, SeedOptions {}

/** How a change is made. */
export interface UpdateOptions {
  /** Only if this version is in force, which `configVersion` or an earlier change told. Default: whichever is. */
  readonly ifVersion?: number;
}
