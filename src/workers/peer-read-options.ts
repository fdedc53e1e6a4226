/** What callers say about a read from peers, and what they get to know. */

import { classifyByError } from '../shared/classify-by-error.js';
import { describeValue } from '../shared/quota.js';
import type { Settings } from '../shared/settings.js';
import { canonicalKey, type TableKey } from '../shared/table-key.js';
import type { VerdictKind } from '../shared/verdict.js';
import { checkKnown } from './known-options.js';
import type { Classifier } from './outcome.js';
import { checkMs, checkSignal } from './wait-options.js';

export interface PeerReadOptions<T = unknown> {
  /** Addresses of the peers that may have it, the best first. */
  readonly candidates: readonly string[];
  /** The caller's own abort: ends the read at once, candidates and fallback alike, also one that does not listen to it. */
  readonly signal?: AbortSignal;
  /** Ask all candidates whose circuit is closed at once; the first good answer wins. Default: false, one after the other. */
  readonly race?: boolean;
  /**
   * When a candidate whose circuit may be probed is asked: `last`, after those whose circuit is closed, so that no read
   * waits for a probe that does not need it; or `inOrder`, in its place among them, so that it comes back sooner. One probe
   * a read. Default: `last`.
   */
  readonly probe?: 'last' | 'inOrder';
  /** Until a candidate must have ended or called `connected()`, ms; 0: no bound. Default: `peers.connectTimeoutMs`. */
  readonly connectTimeoutMs?: number;
  /** Further tries of a candidate that was not connected to in time. Default: `peers.connectRetries`. */
  readonly connectRetries?: number;
  /** Longest that one try of a candidate may take, ms; 0: no bound. Default: `retry.attemptTimeoutMs`. */
  readonly attemptTimeoutMs?: number;
  /** Longest that the read may take, waits, candidates and fallback included, ms; 0: no bound. Default: `retry.deadlineMs`. */
  readonly deadlineMs?: number;
  /** RPC type whose limits each try takes. Default: none, the circuits alone. */
  readonly rpc?: string;
  /** With `rpc`: key that is slowed when the peers are busy. */
  readonly table?: TableKey;
  /** With `rpc`: longest wait of the read over all tries and stages, ms. Default: `waiting.maxWaitMs`. */
  readonly maxWaitMs?: number;
  /**
   * What an outcome means: an answer that carries an internal error is a `failure`, whatever the transport says. Default:
   * the one given to `attach`, else by the error.
   */
  readonly classify?: Classifier<T>;
}

/** What the read callback is given beside the address. */
export interface PeerContext {
  readonly address: string;
  /** Which try of this candidate, from 1. */
  readonly attempt: number;
  /** Aborted when the caller has gone, the time is over, or another candidate was faster. Made when it is first read. */
  readonly signal: AbortSignal;
  /** Until {@link PeerContext.connected} must have been called, or the read must have ended, ms; 0: no bound. */
  readonly connectTimeoutMs: number;
  /** Says that the connection stands: from here on `attemptTimeoutMs` alone bounds the read. */
  connected(): void;
}

export type PeerReadCallback<T> = (address: string, context: PeerContext) => Promise<T> | T;

/** What the fallback is given. */
export interface FallbackContext {
  readonly signal: AbortSignal | undefined;
  /** What came of the candidates that were asked. */
  readonly attempts: readonly PeerAttempt[];
}

export type FallbackCallback<T> = (context: FallbackContext) => Promise<T> | T;

/** One try of one candidate. */
export interface PeerAttempt {
  readonly address: string;
  readonly verdict: VerdictKind;
  /** It was the probe of its circuit. */
  readonly probe: boolean;
  readonly error?: unknown;
}

export interface PeerRead<T> {
  readonly value: T;
  /** Who served it. */
  readonly source:
    | { readonly kind: 'peer'; readonly address: string }
    | { readonly kind: 'fallback' };
  /** Tries in the order in which they ended; of a race, those that had ended by then. */
  readonly attempts: readonly PeerAttempt[];
  /** Candidates that were passed over because their circuit was open; no attempt, no miss. */
  readonly open: readonly string[];
}

/** A read with everything decided that can be decided before it begins. */
export interface PlannedRead<T> {
  readonly candidates: readonly string[];
  readonly signal: AbortSignal | undefined;
  readonly race: boolean;
  readonly probe: 'last' | 'inOrder';
  readonly connectTimeoutMs: number;
  readonly connectRetries: number;
  readonly attemptTimeoutMs: number;
  readonly deadlineMs: number;
  readonly rpc: string | undefined;
  readonly table: TableKey | undefined;
  readonly maxWaitMs: number;
  readonly classify: Classifier<T>;
}

const MOST_CANDIDATES = 1000;
const MOST_RETRIES = 100;
const OPTIONS: ReadonlySet<string> = new Set<keyof PeerReadOptions>([
  'candidates',
  'signal',
  'race',
  'probe',
  'connectTimeoutMs',
  'connectRetries',
  'attemptTimeoutMs',
  'deadlineMs',
  'rpc',
  'table',
  'maxWaitMs',
  'classify',
]);

/** @throws TypeError, RangeError that name field, rule and what came. */
export function planRead<T>(
  options: PeerReadOptions<T>,
  settings: Settings,
  classify: Classifier | undefined,
): PlannedRead<T> {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`options must be an object with candidates, got ${describeValue(options)}`);
  checkKnown(options, OPTIONS);
  const { candidates, race = false, probe = 'last', rpc, classify: own } = options;
  if (!Array.isArray(candidates) || candidates.length > MOST_CANDIDATES)
    throw new TypeError(
      `candidates must be an array of at most ${MOST_CANDIDATES} addresses, got ${describeValue(candidates)}`,
    );
  if (typeof race !== 'boolean')
    throw new TypeError(`race must be true or false, got ${describeValue(race)}`);
  if (probe !== 'last' && probe !== 'inOrder')
    throw new TypeError(`probe must be 'last' or 'inOrder', got ${describeValue(probe)}`);
  if (own !== undefined && typeof own !== 'function')
    throw new TypeError(`classify must be a function, got ${describeValue(own)}`);
  if (rpc !== undefined && typeof rpc !== 'string')
    throw new TypeError(`rpc must be a string, got ${describeValue(rpc)}`);
  const table = options.table ?? undefined;
  if (table !== undefined) canonicalKey(table);
  const { connectTimeoutMs, attemptTimeoutMs, maxWaitMs } = options;
  return {
    candidates: [...candidates],
    signal: checkSignal(options.signal),
    race,
    probe,
    connectTimeoutMs:
      checkMs(connectTimeoutMs, 'connectTimeoutMs') ?? settings.peers.connectTimeoutMs,
    connectRetries: checkRetries(options.connectRetries) ?? settings.peers.connectRetries,
    attemptTimeoutMs:
      checkMs(attemptTimeoutMs, 'attemptTimeoutMs') ?? settings.retry.attemptTimeoutMs,
    deadlineMs: checkMs(options.deadlineMs, 'deadlineMs') ?? settings.retry.deadlineMs,
    rpc,
    table,
    maxWaitMs: checkMs(maxWaitMs, 'maxWaitMs') ?? settings.maxWaitMs,
    classify: own ?? (classify as Classifier<T> | undefined) ?? classifyByError,
  };
}

function checkRetries(retries: number | undefined): number | undefined {
  if (retries === undefined) return undefined;
  if (typeof retries !== 'number')
    throw new TypeError(`connectRetries must be a number, got ${describeValue(retries)}`);
  if (!Number.isInteger(retries) || retries < 0 || retries > MOST_RETRIES)
    throw new RangeError(
      `connectRetries must be an integer from 0 to ${MOST_RETRIES}, got ${retries}`,
    );
  return retries;
}
