/** What callers say about a call, and what that comes to once it is checked and the configuration has filled the gaps. */
import { checkWeight, describeValue } from '../shared/quota.js';
import type { RetryTerms } from '../shared/retry-policy.js';
import type { Settings } from '../shared/settings.js';
import { canonicalKey, type TableKey } from '../shared/table-key.js';
import type { RetriableKind } from '../shared/verdict.js';
import type { Admitted } from './admission.js';
import { checkBucket } from './bucket-pressure.js';
import type { HostLimiter } from './host-limiter.js';
import { checkKnown } from './known-options.js';
import type { Classifier } from './outcome.js';
import { checkMs, checkSignal } from './wait-options.js';

export interface CallOptions<T = unknown> {
  /** RPC type, one of the configuration's. */
  readonly rpc: string;
  /** Key that is slowed when the downstream is busy, such as a table id. `10086n`, `10086` and `'10086'` are one key. */
  readonly table?: TableKey;
  /** Peer that the call goes to: has a circuit breaker. */
  readonly address?: string;
  /**
   * Part of the downstream that reports its pressure on its own: each attempt leaves it alone while its window is open, and a
   * pressure that a verdict carries is its own. See `gate.pressure`. Default: none.
   */
  readonly bucket?: string;
  /** Permits of the host-level limit that each attempt takes, an integer >= 1. Default 1. */
  readonly weight?: number;
  /** The caller's own abort. Ends a wait or a backoff at once; reaches the attempt, which ends by itself. */
  readonly signal?: AbortSignal;
  /** Longest wait over all stages and attempts, backoffs aside, ms. Default: `waiting.maxWaitMs`. */
  readonly maxWaitMs?: number;
  /** What an outcome means. Default: the one given to `attach`, else {@link classifyByError}. */
  readonly classify?: Classifier<T>;
  /** Which attempts may follow a bad one; `false`: none. What it does not say is as `retry` of the configuration says. */
  readonly retry?: CallRetry | false;
  /** Told when another attempt will follow, before the backoff: what the last one holds can go. What it throws ends the call. */
  readonly onRetry?: () => void;
  /** Longest that one attempt may take, ms; 0: no bound. Default: `retry.attemptTimeoutMs`. */
  readonly attemptTimeoutMs?: number;
  /** Longest that the call may take, all waits and attempts included, ms; 0: no bound. Default: `retry.deadlineMs`. */
  readonly deadlineMs?: number;
  /** Resolve to `{ value, explanation }`; errors carry `explanation` too. Default: false. */
  readonly explain?: boolean;
}

/** See `retry` of the configuration. */
export interface CallRetry {
  /** Attempts of the call, the first included, 1 to 100. */
  readonly maxAttempts?: number;
  readonly baseDelayMs?: number;
  readonly maxDelayMs?: number;
  readonly maxRetryAfterMs?: number;
  readonly on?: readonly RetriableKind[];
}

/** A call with everything decided that can be decided before it begins. */
export interface PlannedCall extends Admitted {
  readonly limiter: HostLimiter;
  readonly maxWaitMs: number;
  readonly terms: RetryTerms;
  readonly onRetry: (() => void) | undefined;
  readonly attemptTimeoutMs: number;
  readonly deadlineMs: number;
  readonly explain: boolean;
}

/** `retry: false`: a constant, so that it costs nothing. */
const NO_RETRIES: RetryTerms = {
  maxAttempts: 1,
  baseDelayMs: 0,
  maxDelayMs: 0,
  maxRetryAfterMs: 0,
  on: [],
};
const MOST_ATTEMPTS = 100;
const CALL_OPTIONS: ReadonlySet<string> = new Set<keyof CallOptions>([
  'rpc',
  'table',
  'address',
  'bucket',
  'weight',
  'signal',
  'maxWaitMs',
  'classify',
  'retry',
  'onRetry',
  'attemptTimeoutMs',
  'deadlineMs',
  'explain',
]);
export const RETRY_OPTIONS: ReadonlySet<string> = new Set<keyof CallRetry>([
  'maxAttempts',
  'baseDelayMs',
  'maxDelayMs',
  'maxRetryAfterMs',
  'on',
]);

/** The RPC type of a call. @throws TypeError. */
export function rpcOf(options: CallOptions<never>): string {
  if (typeof options === 'object' && options !== null) return options.rpc;
  throw new TypeError(`options must be an object with an rpc, got ${describeValue(options)}`);
}

/** @throws TypeError, RangeError that name field, rule and what came. */
export function planCall(
  options: CallOptions<never>,
  settings: Settings,
  limiter: HostLimiter,
): PlannedCall {
  for (const name in options) {
    if (isCallOption(name)) continue;
    checkKnown(options, CALL_OPTIONS);
    break;
  }
  const { rpc, weight, maxWaitMs, classify, retry, onRetry } = options;
  const { attemptTimeoutMs, deadlineMs, explain } = options;
  const table = options.table ?? undefined;
  const address = options.address ?? undefined;
  const bucket = options.bucket ?? undefined;
  if (classify !== undefined && typeof classify !== 'function')
    throw new TypeError(`classify must be a function, got ${describeValue(classify)}`);
  if (onRetry !== undefined && typeof onRetry !== 'function')
    throw new TypeError(`onRetry must be a function, got ${describeValue(onRetry)}`);
  // A safe integer needs no text to be right.
  if (table !== undefined && !Number.isSafeInteger(table)) canonicalKey(table);
  if (address !== undefined && (typeof address !== 'string' || address === ''))
    throw new TypeError(
      `address must be a string that names a peer, got ${describeValue(address)}`,
    );
  if (bucket !== undefined) checkBucket(bucket);
  if (explain !== undefined && typeof explain !== 'boolean')
    throw new TypeError(`explain must be true or false, got ${describeValue(explain)}`);
  return {
    rpc,
    table,
    address,
    bucket,
    weight: weight === undefined ? 1 : checkWeight(weight, 'weight'),
    signal: checkSignal(options.signal),
    limiter,
    maxWaitMs: checkMs(maxWaitMs, 'maxWaitMs') ?? settings.maxWaitMs,
    terms: retry === undefined ? settings.retry : planRetries(retry, settings.retry),
    onRetry,
    attemptTimeoutMs:
      checkMs(attemptTimeoutMs, 'attemptTimeoutMs') ?? settings.retry.attemptTimeoutMs,
    deadlineMs: checkMs(deadlineMs, 'deadlineMs') ?? settings.retry.deadlineMs,
    explain: explain === true,
  };
}

/** As CALL_OPTIONS says, in a fifth of the time: every call asks. */
function isCallOption(name: string): boolean {
  switch (name) {
    case 'rpc':
    case 'table':
    case 'address':
    case 'bucket':
    case 'weight':
    case 'signal':
    case 'maxWaitMs':
    case 'classify':
    case 'retry':
    case 'onRetry':
    case 'attemptTimeoutMs':
    case 'deadlineMs':
    case 'explain':
      return true;
    default:
      return false;
  }
}

function planRetries(retry: CallRetry | false, fallback: RetryTerms): RetryTerms {
  if (retry === false) return NO_RETRIES;
  if (typeof retry !== 'object' || retry === null)
    throw new TypeError(`retry must be an object or false, got ${describeValue(retry)}`);
  checkKnown(retry, RETRY_OPTIONS, 'retry');
  const { maxAttempts, baseDelayMs, maxDelayMs, maxRetryAfterMs, on } = retry;
  return {
    maxAttempts: checkAttempts(maxAttempts) ?? fallback.maxAttempts,
    baseDelayMs: checkMs(baseDelayMs, 'retry.baseDelayMs') ?? fallback.baseDelayMs,
    maxDelayMs: checkMs(maxDelayMs, 'retry.maxDelayMs') ?? fallback.maxDelayMs,
    maxRetryAfterMs: checkMs(maxRetryAfterMs, 'retry.maxRetryAfterMs') ?? fallback.maxRetryAfterMs,
    on: checkKinds(on) ?? fallback.on,
  };
}

function checkAttempts(maxAttempts: number | undefined): number | undefined {
  if (maxAttempts === undefined) return undefined;
  if (typeof maxAttempts !== 'number')
    throw new TypeError(`retry.maxAttempts must be a number, got ${describeValue(maxAttempts)}`);
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1 || maxAttempts > MOST_ATTEMPTS)
    throw new RangeError(
      `retry.maxAttempts must be an integer from 1 to ${MOST_ATTEMPTS}, got ${maxAttempts}`,
    );
  return maxAttempts;
}

function checkKinds(
  on: readonly RetriableKind[] | undefined,
): readonly RetriableKind[] | undefined {
  if (on === undefined) return undefined;
  const kinds: readonly unknown[] = ['busy', 'failure', 'refused'];
  const wrong = Array.isArray(on) ? on.find((kind) => !kinds.includes(kind)) : on;
  if (Array.isArray(on) && wrong === undefined) return on;
  throw new TypeError(
    `retry.on must be an array of 'busy', 'failure' and 'refused', got ${describeValue(wrong)}`,
  );
}
