/**
 * The settings that every thread obeys, in the arena: one of four blocks is in force, the next is written while nobody
 * looks and published by its index. A reader that was held up while three changes passed reads again.
 */
import type { Arena } from './arena.js';
import type { BreakerParams } from './breaker/breaker-params.js';
import { FLAG, HEADER, SETTINGS, SETTINGS_BYTES } from './layout.js';
import type { BudgetTerms } from './retry-budget.js';
import type { RetryTerms } from './retry-policy.js';
import type { RetriableKind } from './verdict.js';

/** What bounds a call and its attempts, where the call does not say it itself. */
export interface CallSettings extends RetryTerms, BudgetTerms {
  /** Of the whole call, ms; 0: none. */
  readonly deadlineMs: number;
  /** Of each attempt, ms; 0: none. */
  readonly attemptTimeoutMs: number;
}

export interface PeerSettings {
  /** Until a peer read must have its connection, ms; 0: no bound. */
  readonly connectTimeoutMs: number;
  /** Further tries of a candidate that could not be connected to in time. */
  readonly connectRetries: number;
}

export interface PressureSettings {
  /** A window's length at a pressure of 1, ms; 0: no windows. */
  readonly maxThrottleMs: number;
}

export interface BreakerSettings extends BreakerParams {
  readonly enabled: boolean;
}

export interface Settings {
  /** Counts configuration changes from 1. */
  readonly version: number;
  readonly maxWaitMs: number;
  readonly maxWaiters: number;
  readonly host: boolean;
  readonly hostDryRun: boolean;
  readonly tables: boolean;
  readonly tablesDryRun: boolean;
  readonly retry: CallSettings;
  readonly peers: PeerSettings;
  readonly breaker: BreakerSettings;
  readonly pressure: PressureSettings;
}

const BLOCKS = 4;
const INDEX = HEADER.SETTINGS_INDEX >>> 2;

const RETRY_ON: readonly (readonly [RetriableKind, number])[] = [
  ['busy', FLAG.RETRY_ON_BUSY],
  ['failure', FLAG.RETRY_ON_FAILURE],
  ['refused', FLAG.RETRY_ON_REFUSED],
];

/** Changes with the settings. */
export function settingsIndex({ i32 }: Arena): number {
  return Atomics.load(i32, INDEX);
}

export function readSettings({ i32, f64 }: Arena): Settings {
  for (;;) {
    const index = Atomics.load(i32, INDEX);
    const block = HEADER.SETTINGS + (index % BLOCKS) * SETTINGS_BYTES;
    const flags = i32[(block + SETTINGS.FLAGS) >>> 2] as number;
    const number = (field: keyof typeof SETTINGS): number =>
      f64[(block + SETTINGS[field]) >>> 3] as number;
    const settings: Settings = {
      version: number('VERSION'),
      maxWaitMs: number('MAX_WAIT_MS'),
      maxWaiters: number('MAX_WAITERS'),
      host: (flags & FLAG.HOST) !== 0,
      hostDryRun: (flags & FLAG.HOST_DRY_RUN) !== 0,
      tables: (flags & FLAG.TABLES) !== 0,
      tablesDryRun: (flags & FLAG.TABLES_DRY_RUN) !== 0,
      retry: {
        maxAttempts: number('MAX_ATTEMPTS'),
        baseDelayMs: number('BASE_DELAY_MS'),
        maxDelayMs: number('MAX_DELAY_MS'),
        maxRetryAfterMs: number('MAX_RETRY_AFTER_MS'),
        on: RETRY_ON.filter(([, flag]) => (flags & flag) !== 0).map(([kind]) => kind),
        deadlineMs: number('DEADLINE_MS'),
        attemptTimeoutMs: number('ATTEMPT_TIMEOUT_MS'),
        budgetRatio: number('BUDGET_RATIO'),
        budgetPerSecond: number('BUDGET_PER_SECOND'),
        budgetBurst: number('BUDGET_BURST'),
      },
      peers: {
        connectTimeoutMs: number('CONNECT_TIMEOUT_MS'),
        connectRetries: number('CONNECT_RETRIES'),
      },
      breaker: {
        enabled: (flags & FLAG.BREAKER) !== 0,
        failureThreshold: number('FAILURE_THRESHOLD'),
        cooldownMs: number('COOLDOWN_MS'),
        probeTimeoutMs: number('PROBE_TIMEOUT_MS'),
        cooldownFactor: number('COOLDOWN_FACTOR'),
        maxCooldownMs: number('MAX_COOLDOWN_MS'),
        jitter: number('JITTER'),
        probesToClose: number('PROBES_TO_CLOSE'),
        failureRate: number('FAILURE_RATE'),
        windowMs: number('WINDOW_MS'),
        minimumCalls: number('MINIMUM_CALLS'),
      },
      pressure: { maxThrottleMs: number('MAX_THROTTLE_MS') },
    };
    if (Atomics.load(i32, INDEX) - index < BLOCKS - 1) return settings;
  }
}

/** One writer. */
export function writeSettings({ i32, f64 }: Arena, settings: Settings): void {
  const index = Atomics.load(i32, INDEX) + 1;
  const block = HEADER.SETTINGS + (index % BLOCKS) * SETTINGS_BYTES;
  const { retry, peers, breaker } = settings;
  const put = (field: keyof typeof SETTINGS, value: number): void => {
    f64[(block + SETTINGS[field]) >>> 3] = value;
  };
  put('VERSION', settings.version);
  put('MAX_WAIT_MS', settings.maxWaitMs);
  put('MAX_WAITERS', settings.maxWaiters);
  put('MAX_ATTEMPTS', retry.maxAttempts);
  put('BASE_DELAY_MS', retry.baseDelayMs);
  put('MAX_DELAY_MS', retry.maxDelayMs);
  put('MAX_RETRY_AFTER_MS', retry.maxRetryAfterMs);
  put('DEADLINE_MS', retry.deadlineMs);
  put('ATTEMPT_TIMEOUT_MS', retry.attemptTimeoutMs);
  put('BUDGET_RATIO', retry.budgetRatio);
  put('BUDGET_PER_SECOND', retry.budgetPerSecond);
  put('BUDGET_BURST', retry.budgetBurst);
  put('CONNECT_TIMEOUT_MS', peers.connectTimeoutMs);
  put('CONNECT_RETRIES', peers.connectRetries);
  put('FAILURE_THRESHOLD', breaker.failureThreshold);
  put('COOLDOWN_MS', breaker.cooldownMs);
  put('PROBE_TIMEOUT_MS', breaker.probeTimeoutMs);
  put('COOLDOWN_FACTOR', breaker.cooldownFactor);
  put('MAX_COOLDOWN_MS', breaker.maxCooldownMs);
  put('JITTER', breaker.jitter);
  put('PROBES_TO_CLOSE', breaker.probesToClose);
  put('FAILURE_RATE', breaker.failureRate);
  put('WINDOW_MS', breaker.windowMs);
  put('MINIMUM_CALLS', breaker.minimumCalls);
  put('MAX_THROTTLE_MS', settings.pressure.maxThrottleMs);
  i32[(block + SETTINGS.FLAGS) >>> 2] =
    (settings.host ? FLAG.HOST : 0) |
    (settings.hostDryRun ? FLAG.HOST_DRY_RUN : 0) |
    (settings.tables ? FLAG.TABLES : 0) |
    (settings.tablesDryRun ? FLAG.TABLES_DRY_RUN : 0) |
    (breaker.enabled ? FLAG.BREAKER : 0) |
    RETRY_ON.reduce((set, [kind, flag]) => (retry.on.includes(kind) ? set | flag : set), 0);
  Atomics.store(i32, INDEX, index);
}
