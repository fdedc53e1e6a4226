import { canonicalAddress } from '../shared/breaker/canonical-address.js';
import { CircuitOpenError, RateLimitExceededError, RuntimeClosedError } from '../shared/errors.js';
import type { TableKey } from '../shared/table-key.js';
import { type VerdictKind, verdictKind } from '../shared/verdict.js';
import type { FakeClassifier, FakeOutcome, FakeVerdict } from './fake-outcome.js';

export interface FakePeerReadOptions<T = unknown> {
  readonly candidates: readonly string[];
  readonly signal?: AbortSignal;
  /** Without effect here: candidates are asked in order. */
  readonly race?: boolean;
  /** Without effect here: no circuit is ever probed. */
  readonly probe?: 'last' | 'inOrder';
  /** Only handed on: reads of a test end by themselves. */
  readonly connectTimeoutMs?: number;
  /** Without effect here. */
  readonly connectRetries?: number;
  /** Without effect here. */
  readonly attemptTimeoutMs?: number;
  /** Without effect here. */
  readonly deadlineMs?: number;
  readonly rpc?: string;
  readonly table?: TableKey;
  readonly maxWaitMs?: number;
  readonly classify?: FakeClassifier<T>;
}

export interface FakePeerContext {
  readonly address: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly connectTimeoutMs: number;
  connected(): void;
}

export interface FakePeerAttempt {
  readonly address: string;
  readonly verdict: VerdictKind;
  readonly probe: boolean;
  readonly error?: unknown;
}

export interface FakePeerRead<T> {
  readonly value: T;
  readonly source:
    | { readonly kind: 'peer'; readonly address: string }
    | { readonly kind: 'fallback' };
  readonly attempts: readonly FakePeerAttempt[];
  readonly open: readonly string[];
}

export type FakePeerReadCallback<T> = (address: string, context: FakePeerContext) => Promise<T> | T;

export type FakeFallback<T> = (context: {
  readonly signal: AbortSignal | undefined;
  readonly attempts: readonly FakePeerAttempt[];
}) => Promise<T> | T;

/** What the gate does for each candidate. */
export interface FakePeerPort<T> {
  /** Resolves when it may be asked. @throws (rejects) what the gate refuses with. */
  admit(address: string): Promise<(outcome: FakeOutcome<T>) => FakeVerdict>;
}

/** As the configuration's default. */
const CONNECT_TIMEOUT_MS = 200;

/** Candidates in order, then the fallback. */
export async function readFromFakePeers<T>(
  options: FakePeerReadOptions<T>,
  read: FakePeerReadCallback<T>,
  fallback: FakeFallback<T>,
  port: FakePeerPort<T>,
): Promise<FakePeerRead<T>> {
  const { signal, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const attempts: FakePeerAttempt[] = [];
  const open: string[] = [];
  signal?.throwIfAborted();
  for (const address of distinct(options.candidates)) {
    let classify: (outcome: FakeOutcome<T>) => FakeVerdict;
    try {
      classify = await port.admit(address);
    } catch (error) {
      if (error instanceof RateLimitExceededError || error instanceof RuntimeClosedError) break;
      if (!(error instanceof CircuitOpenError)) throw error;
      open.push(address);
      continue;
    }
    const context: FakePeerContext = {
      address,
      attempt: 1,
      signal: signal ?? new AbortController().signal,
      connectTimeoutMs,
      connected: () => undefined,
    };
    const outcome = await outcomeOf(() => read(address, context));
    const verdict = verdictKind(classify(outcome));
    attempts.push({
      address,
      verdict,
      probe: false,
      ...(!outcome.ok && { error: outcome.error }),
    });
    if (outcome.ok && (verdict === 'success' || verdict === 'ignored'))
      return { value: outcome.value, source: { kind: 'peer', address }, attempts, open };
    signal?.throwIfAborted();
  }
  const value = await fallback({ signal, attempts: [...attempts] });
  return { value, source: { kind: 'fallback' }, attempts, open };
}

async function outcomeOf<T>(run: () => Promise<T> | T): Promise<FakeOutcome<T>> {
  try {
    return { ok: true, value: await run() };
  } catch (error) {
    return { ok: false, error };
  }
}

/** Each peer once, in the spelling that names it first. */
function distinct(candidates: readonly string[]): Iterable<string> {
  const known = new Map<string, string>();
  for (const address of candidates) {
    const canonical = canonicalAddress(address);
    if (!known.has(canonical)) known.set(canonical, address);
  }
  return known.values();
}
