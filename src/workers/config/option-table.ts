import { z } from 'zod';
import { MAX_FAILURES, MAX_GOOD_PROBES } from '../../shared/breaker/circuit-state.js';
import { MAX_SLOT_COUNT } from '../../shared/breaker/failure-window.js';
import { isRpcName, RPC_NAME_RULE } from './rpc-name.js';

/** How a `name = value` line's text becomes a value. */
export type TextKind = 'number' | 'boolean' | 'name' | 'names';

export interface OptionSpec {
  /** `tables.ratio` */
  readonly path: string;
  readonly kind: TextKind;
  /** `must be > 0 and < 1`: the message of every value that `schema` refuses. */
  readonly rule: string;
  readonly schema: z.ZodType;
  /** Value when nobody gave one. */
  readonly fallback: boolean | number | string | readonly string[] | null;
  /** Fixed for the life of a runtime. */
  readonly immutable?: true;
  /**
   * The name that Doris, or Fluss, gives it; there the value is `factor` times smaller, or may be a text with a unit, and `rule`
   * is worded for that.
   */
  readonly seed?: {
    readonly name: string;
    readonly factor?: number;
    readonly duration?: true;
    readonly rule?: string;
  };
}

const DAY_MS = 86_400_000;
/** A wait, an interval: below every bound of the arena's time words (208 days). */
const MAX_MS: number = 90 * DAY_MS;

/** Finite before anything else, because NaN passes every `<`; and -0 is never what was meant. */
function number(rule: string, holds: (value: number) => boolean): z.ZodType {
  return z.custom<number>(
    (value) =>
      typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0) && holds(value),
    { error: rule },
  );
}

function integer(rule: string, min: number, max: number): z.ZodType {
  return number(rule, (n) => Number.isSafeInteger(n) && n >= min && n <= max);
}

type Extras = Pick<OptionSpec, 'immutable' | 'seed'>;
type Range = { readonly min: number; readonly max: number };

function integerOption(path: string, fallback: number, range: Range, extras: Extras): OptionSpec {
  const rule = `must be an integer from ${range.min} to ${range.max}`;
  const schema = integer(rule, range.min, range.max);
  return { path, kind: 'number', rule, schema, fallback, ...extras };
}

function numberOption(
  path: string,
  fallback: number,
  rule: string,
  holds: (value: number) => boolean,
  extras: Extras = {},
): OptionSpec {
  return { path, kind: 'number', rule, schema: number(rule, holds), fallback, ...extras };
}

/** A wait of one call: a day at most. */
function millisecondsOption(path: string, fallback: number, extras: Extras = {}): OptionSpec {
  const rule = `must be from 0 to ${DAY_MS}`;
  return numberOption(path, fallback, rule, (n) => n >= 0 && n <= DAY_MS, extras);
}

function booleanOption(path: string, fallback: boolean, extras: Extras = {}): OptionSpec {
  const rule = 'must be true or false';
  return { path, kind: 'boolean', rule, schema: z.boolean({ error: rule }), fallback, ...extras };
}

function custom(rule: string, holds: (value: unknown) => boolean): z.ZodType {
  return z.custom((value) => holds(value), { error: rule });
}

const BACKEND_ID_RULE = 'must be an integer from 0 to 9223372036854775807, a bigint above 2^53';
const MAX_BIGINT = 2n ** 63n - 1n;

function isBackendId(value: unknown): boolean {
  if (typeof value === 'bigint') return value >= 0n && value <= MAX_BIGINT;
  return Number.isSafeInteger(value) && !Object.is(value, -0) && (value as number) >= 0;
}

const RETRY_ON_RULE = "must be an array of 'busy', 'failure' and 'refused', none twice";

function areRetriableKinds(value: unknown): boolean {
  const kinds: readonly unknown[] = ['busy', 'failure', 'refused'];
  return (
    Array.isArray(value) &&
    value.every((kind) => kinds.includes(kind)) &&
    new Set(value).size === value.length
  );
}

const PRESET_RULE = "must be 'dorisMetaService'";
const PATH_RULE = 'must be the path of a file';

/** Every option that holds one value. Overrides per RPC type are below. A new option is one entry, and its types. */
export const OPTIONS: readonly OptionSpec[] = [
  {
    path: 'backendId',
    kind: 'number',
    rule: BACKEND_ID_RULE,
    schema: custom(BACKEND_ID_RULE, isBackendId),
    fallback: null,
    immutable: true,
  },
  {
    path: 'preset',
    kind: 'name',
    rule: PRESET_RULE,
    schema: custom(PRESET_RULE, (v) => v === 'dorisMetaService'),
    fallback: null,
    immutable: true,
  },
  {
    path: 'configFile',
    kind: 'name',
    rule: PATH_RULE,
    schema: custom(PATH_RULE, (v) => typeof v === 'string' && v !== '' && !v.includes('\0')),
    fallback: null,
    immutable: true,
  },
  booleanOption('host.enabled', true, { seed: { name: 'enable_ms_rpc_host_level_rate_limit' } }),
  booleanOption('host.dryRun', false),
  numberOption('host.qpsPerCore', 100, 'must be > 0', (n) => n > 0, {
    seed: { name: 'ms_rpc_qps_default' },
  }),
  booleanOption('tables.enabled', false, { seed: { name: 'enable_ms_backpressure_handling' } }),
  booleanOption('tables.dryRun', false),
  // The window is made of whole samples of 100 ms.
  numberOption(
    'tables.windowMs',
    3000,
    'must be a multiple of 100 from 100 to 600000',
    (n) => n % 100 === 0 && n >= 100 && n <= 600_000,
    {
      immutable: true,
      seed: {
        name: 'ms_rpc_table_qps_window_sec',
        factor: 1000,
        rule: 'must be a multiple of 0.1 from 0.1 to 600',
      },
    },
  ),
  integerOption(
    'tables.upgradeIntervalMs',
    3000,
    { min: 1, max: MAX_MS },
    {
      seed: { name: 'ms_backpressure_upgrade_interval_ms' },
    },
  ),
  integerOption(
    'tables.downgradeIntervalMs',
    3000,
    { min: 1, max: MAX_MS },
    {
      seed: { name: 'ms_backpressure_downgrade_interval_ms' },
    },
  ),
  integerOption(
    'tables.topK',
    2,
    { min: 1, max: 10_000 },
    {
      seed: { name: 'ms_backpressure_upgrade_top_k' },
    },
  ),
  numberOption('tables.ratio', 0.75, 'must be > 0 and < 1', (n) => n > 0 && n < 1, {
    seed: { name: 'ms_backpressure_throttle_ratio' },
  }),
  // The strict limiter's interval is 1 / qps: 11.6 days and 100 ns are far inside what it can hold.
  numberOption(
    'tables.floorQps',
    1,
    'must be from 0.000001 to 10000000',
    (n) => n >= 1e-6 && n <= 1e7,
    { seed: { name: 'ms_rpc_table_qps_limit_floor' } },
  ),
  {
    path: 'tables.rpcs',
    kind: 'names',
    rule: 'must be an array of RPC types, none twice',
    schema: z
      .array(custom(RPC_NAME_RULE, isRpcName), { error: 'must be an array of RPC types' })
      .refine((names) => new Set(names).size === names.length, {
        error: 'must not name one twice',
      }),
    fallback: [],
  },
  millisecondsOption('waiting.maxWaitMs', 10_000),
  integerOption('waiting.maxWaiters', 10_000, { min: 1, max: 1_000_000 }, {}),
  integerOption('retry.maxAttempts', 1, { min: 1, max: 100 }, {}),
  millisecondsOption('retry.baseDelayMs', 50),
  millisecondsOption('retry.maxDelayMs', 2000),
  millisecondsOption('retry.maxRetryAfterMs', 10_000),
  {
    path: 'retry.on',
    kind: 'names',
    rule: RETRY_ON_RULE,
    schema: custom(RETRY_ON_RULE, areRetriableKinds),
    fallback: ['busy', 'failure', 'refused'],
  },
  millisecondsOption('retry.deadlineMs', 0),
  millisecondsOption('retry.attemptTimeoutMs', 0),
  numberOption('retry.budgetRatio', 0.2, 'must be from 0 to 1', (n) => n >= 0 && n <= 1),
  numberOption('retry.budgetPerSecond', 1, 'must be from 0 to 1000000', (n) => n >= 0 && n <= 1e6),
  integerOption('retry.budgetBurst', 10, { min: 1, max: 1_000_000 }, {}),
  millisecondsOption('peers.connectTimeoutMs', 200),
  integerOption('peers.connectRetries', 0, { min: 0, max: 100 }, {}),
  booleanOption('breaker.enabled', true),
  integerOption('breaker.failureThreshold', 3, { min: 1, max: MAX_FAILURES }, {}),
  integerOption('breaker.cooldownMs', 30_000, { min: 1, max: MAX_MS }, {}),
  integerOption('breaker.probeTimeoutMs', 10_000, { min: 1, max: MAX_MS }, {}),
  // The quarter more cells that it stands for must fit a directory. It may be lowered at run time, see address-room.ts.
  integerOption('breaker.maxAddresses', 10_000, { min: 1, max: 800_000 }, {}),
  integerOption('breaker.idleMs', 60_000, { min: 1, max: MAX_MS }, {}),
  numberOption('breaker.cooldownFactor', 1, 'must be from 1 to 100', (n) => n >= 1 && n <= 100),
  integerOption('breaker.maxCooldownMs', 300_000, { min: 1, max: MAX_MS }, {}),
  numberOption('breaker.jitter', 0, 'must be from 0 to 1', (n) => n >= 0 && n <= 1),
  integerOption('breaker.probesToClose', 1, { min: 1, max: MAX_GOOD_PROBES }, {}),
  numberOption('breaker.failureRate', 0, 'must be from 0 (off) to 1', (n) => n >= 0 && n <= 1),
  integerOption('breaker.windowMs', 10_000, { min: 100, max: 600_000 }, {}),
  integerOption('breaker.minimumCalls', 20, { min: 1, max: MAX_SLOT_COUNT }, {}),
  millisecondsOption('pressure.maxThrottleMs', 3000, {
    seed: {
      name: 'client.writer.kv-backpressure.max-throttle',
      duration: true,
      rule: `must be from 0 to ${DAY_MS} ms, or a duration such as '3s', '500 ms' or '1 min'`,
    },
  }),
  integerOption('capacity.threads', 64, { min: 1, max: 1024 }, { immutable: true }),
  integerOption('capacity.rpcs', 64, { min: 1, max: 1024 }, { immutable: true }),
  integerOption('capacity.pairs', 16_384, { min: 1, max: 1_048_576 }, { immutable: true }),
];

const CLOCK_RULE = "must be 'precise' or 'coarse'";

/** Under `host.rpcs.NAME`. `path` is the last key alone; Doris' name of the first is `ms_rpc_qps_NAME`. */
export const RPC_OPTIONS: readonly OptionSpec[] = [
  numberOption(
    'qpsPerCore',
    -1,
    'must be -1 (as host.qpsPerCore says), 0 (no limit) or > 0',
    (n) => n === -1 || n >= 0,
  ),
  {
    path: 'burst',
    kind: 'number',
    rule: 'must be an integer >= 1',
    schema: integer('must be an integer >= 1', 1, Number.MAX_SAFE_INTEGER),
    fallback: null,
  },
  {
    path: 'clock',
    kind: 'name',
    rule: CLOCK_RULE,
    schema: custom(CLOCK_RULE, (v) => v === 'precise' || v === 'coarse'),
    fallback: 'precise',
  },
];
