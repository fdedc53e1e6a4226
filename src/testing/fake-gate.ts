import { canonicalAddress } from '../shared/breaker/canonical-address.js';
import { classifyByError } from '../shared/classify-by-error.js';
import {
  CircuitOpenError,
  RateLimitExceededError,
  RuntimeClosedError,
  type Stage,
  UnknownRpcError,
} from '../shared/errors.js';
import type { AttemptExplanation, Explained, StageExplanation } from '../shared/explanation.js';
import { describeValue } from '../shared/quota.js';
import { decideRetry, type RetryTerms } from '../shared/retry-policy.js';
import { canonicalKey, type TableKey } from '../shared/table-key.js';
import { pressureOf, type RetriableKind, verdictKind } from '../shared/verdict.js';
import { FakeBreaker } from './fake-breaker.js';
import type { FakeClassifier, FakeOutcome, FakeVerdict } from './fake-outcome.js';
import {
  type FakeFallback,
  type FakePeerRead,
  type FakePeerReadCallback,
  type FakePeerReadOptions,
  readFromFakePeers,
} from './fake-peer-read.js';
import { type FakeBucketPressure, FakePressures } from './fake-pressure.js';
import type { VirtualTime } from './virtual-time.js';

/** What the code under test asked of the gate. */
export interface GateRequest {
  /** `admit`: of a breaker. `readFromPeers`: once for each candidate. */
  readonly verb:
    | 'tryAcquire'
    | 'acquire'
    | 'acquireSync'
    | 'reserve'
    | 'call'
    | 'admit'
    | 'readFromPeers';
  /** `''` where none is named. */
  readonly rpc: string;
  /** The key in its canonical text, where one is named. */
  readonly table: string | undefined;
  /** The peer, where one is named. */
  readonly address?: string;
  /** Where one is named. */
  readonly bucket?: string;
  /** Permits. */
  readonly n: number;
}

/** What the test lets the gate answer. */
export type GateAnswer =
  /** Admitted, after `waitMs` (default 0) of virtual time. */
  | { readonly kind: 'admit'; readonly waitMs?: number }
  | { readonly kind: 'refuse'; readonly retryAfterMs: number; readonly stage?: Stage }
  /** A `CircuitOpenError`; only for requests with an address. */
  | { readonly kind: 'circuit-open'; readonly retryAfterMs: number };

type OpenAnswer = Exclude<GateAnswer, { readonly kind: 'circuit-open' }>;

export interface FakeAcquireOptions {
  readonly n?: number;
  readonly maxWaitMs?: number;
  readonly signal?: AbortSignal;
}

export interface FakeCallOptions<T> {
  readonly rpc: string;
  readonly table?: TableKey;
  readonly address?: string;
  readonly bucket?: string;
  readonly weight?: number;
  readonly signal?: AbortSignal;
  readonly maxWaitMs?: number;
  readonly classify?: FakeClassifier<T>;
  readonly retry?: FakeRetry | false;
  readonly onRetry?: () => void;
  /** Without effect here: attempts of a test end by themselves. */
  readonly attemptTimeoutMs?: number;
  /** Bounds the retrying. */
  readonly deadlineMs?: number;
  readonly explain?: boolean;
}

export interface FakeRetry {
  readonly maxAttempts?: number;
  readonly baseDelayMs?: number;
  readonly maxDelayMs?: number;
  readonly maxRetryAfterMs?: number;
  readonly on?: readonly RetriableKind[];
}

export type FakeAttempt<T> = (context: {
  readonly attempt: number;
  readonly signal: AbortSignal | undefined;
}) => Promise<T> | T;

interface FakeAttempted<T> {
  readonly outcome: FakeOutcome<T>;
  readonly verdict: FakeVerdict;
  readonly waitedMs: number;
  /** Of these, for the end of a pressure window. */
  readonly pressedMs: number;
}

export interface FakeGateOptions {
  /** RPC types that exist; any other is an `UnknownRpcError`. Default: every name does. */
  readonly rpcs?: readonly string[];
  /** What waits take place in. Default: nobody waits, the wait is only reported. */
  readonly time?: VirtualTime;
  /** Default: everything is admitted at once. */
  readonly answer?: (request: GateRequest) => GateAnswer;
}

/** One request that was let through to a peer or a downstream, and what its outcome was taken for. */
export interface FakeVerdictRecord {
  readonly request: GateRequest;
  readonly verdict: FakeVerdict;
}

interface RpcVerbs {
  readonly rpc: string;
  readonly waiting: number;
  tryAcquire(n?: number): boolean;
  acquire(options?: FakeAcquireOptions): Promise<{ readonly waitedMs: number }>;
  acquireSync(options?: Omit<FakeAcquireOptions, 'signal'>): { readonly waitedMs: number };
  reserve(n?: number): { readonly waitMs: number };
}

const ADMIT: GateAnswer = Object.freeze({ kind: 'admit' });
const DEFAULT_MAX_WAIT_MS = 10_000;
const COOLDOWN_MS = 30_000;
const ISOLATED: GateAnswer = Object.freeze({ kind: 'circuit-open', retryAfterMs: COOLDOWN_MS });
/** As the configuration's defaults. */
const RETRY_TERMS: RetryTerms = {
  maxAttempts: 1,
  baseDelayMs: 50,
  maxDelayMs: 2000,
  maxRetryAfterMs: 10_000,
  on: ['busy', 'failure', 'refused'],
};
/** No draw: every backoff is half of its bound. */
const JITTER = 0.5;

/** See {@link FakeGate}. */
export function createFakeGate(options?: FakeGateOptions): FakeGate {
  return new FakeGate(options);
}

/**
 * A gate that does what the test says, without a runtime, threads or shared memory. Has the verbs of the real one and
 * raises the same errors; records what it was asked and how outcomes were classified.
 */
export class FakeGate {
  readonly #rpcs: readonly string[] | undefined;
  readonly #time: VirtualTime | undefined;
  readonly #requests: GateRequest[] = [];
  readonly #verdicts: FakeVerdictRecord[] = [];
  readonly #patches: unknown[] = [];
  readonly #isolated = new Set<string>();
  readonly #rejecters = new Map<(reason: unknown) => void, string>();
  readonly #pressures: FakePressures;
  #answer: (request: GateRequest) => GateAnswer;
  #detached = false;

  constructor({ rpcs, time, answer = () => ADMIT }: FakeGateOptions = {}) {
    this.#rpcs = rpcs;
    this.#time = time;
    this.#answer = answer;
    this.#pressures = new FakePressures({
      waits: time !== undefined,
      nowMs: () => this.#nowMs(),
      pause: (waitMs, signal, wakers) => this.#wait('', waitMs, signal, wakers),
      requireOpen: () => this.#checkOpen(),
    });
  }

  /** What was asked, oldest first. */
  get requests(): readonly GateRequest[] {
    return this.#requests;
  }

  /** Of attempts that have ended and permits that were settled, oldest first. */
  get verdicts(): readonly FakeVerdictRecord[] {
    return this.#verdicts;
  }

  /** What `updateConfig` was given, oldest first. */
  get patches(): readonly unknown[] {
    return this.#patches;
  }

  /** Changes what the gate answers from now on. What is no answer is a TypeError for who asks. */
  answer(answer: (request: GateRequest) => GateAnswer): void {
    this.#answer = answer;
  }

  /** A wait counts as a refusal: it never waits. */
  tryAcquire(rpc: string, n = 1): boolean {
    const answer = this.#ask({ verb: 'tryAcquire', rpc, table: undefined, n });
    return answer.kind === 'admit' && (answer.waitMs ?? 0) === 0;
  }

  async acquire(
    rpc: string,
    { n = 1, maxWaitMs = DEFAULT_MAX_WAIT_MS, signal }: FakeAcquireOptions = {},
  ): Promise<{ readonly waitedMs: number }> {
    const request: GateRequest = { verb: 'acquire', rpc, table: undefined, n };
    const waitedMs = this.#admit(request, maxWaitMs);
    await this.#wait(rpc, waitedMs, signal);
    return { waitedMs };
  }

  /** Blocks nothing: only says how long it would have. */
  acquireSync(
    rpc: string,
    { n = 1, maxWaitMs = DEFAULT_MAX_WAIT_MS }: Omit<FakeAcquireOptions, 'signal'> = {},
  ): { readonly waitedMs: number } {
    return { waitedMs: this.#admit({ verb: 'acquireSync', rpc, table: undefined, n }, maxWaitMs) };
  }

  /** A refusal is a wait of `retryAfterMs`. */
  reserve(rpc: string, n = 1): { readonly waitMs: number } {
    const answer = this.#ask({ verb: 'reserve', rpc, table: undefined, n });
    return { waitMs: answer.kind === 'admit' ? (answer.waitMs ?? 0) : answer.retryAfterMs };
  }

  /** The verbs bound to one RPC type. */
  limiter(rpc: string): RpcVerbs {
    this.#check(rpc);
    const waiting = (): number => [...this.#rejecters.values()].filter((one) => one === rpc).length;
    return {
      rpc,
      get waiting() {
        return waiting();
      },
      tryAcquire: (n) => this.tryAcquire(rpc, n),
      acquire: (options) => this.acquire(rpc, options),
      acquireSync: (options) => this.acquireSync(rpc, options),
      reserve: (n) => this.reserve(rpc, n),
    };
  }

  /** As the real one, with the default retries and no jitter; each attempt is a request of its own. */
  call<T>(
    options: FakeCallOptions<T> & { readonly explain: true },
    attempt: FakeAttempt<T>,
  ): Promise<Explained<T>>;
  call<T>(options: FakeCallOptions<T>, attempt: FakeAttempt<T>): Promise<T>;
  async call<T>(options: FakeCallOptions<T>, attempt: FakeAttempt<T>): Promise<T | Explained<T>> {
    const { rpc, signal, retry, deadlineMs = 0 } = options;
    const terms =
      retry === false ? { ...RETRY_TERMS, maxAttempts: 1 } : { ...RETRY_TERMS, ...given(retry) };
    const beganMs = this.#nowMs();
    const attempts: AttemptExplanation[] = [];
    for (let n = 1; ; n++) {
      const { outcome, verdict, waitedMs, pressedMs } = await this.#attempt(options, attempt, n);
      const kind = verdictKind(verdict);
      const host: StageExplanation = { stage: 'host', waitedMs: waitedMs - pressedMs };
      const stages: StageExplanation[] =
        pressedMs === 0 ? [host] : [{ stage: 'pressure', waitedMs: pressedMs }, host];
      attempts.push({ attempt: n, configVersion: 1, stages, verdict: kind });
      const elapsedMs = this.#nowMs() - beganMs;
      const leftMs = deadlineMs === 0 ? Number.POSITIVE_INFINITY : deadlineMs - elapsedMs;
      const decision = decideRetry({ attempt: n, verdict, leftMs }, terms, JITTER);
      if (decision.kind === 'retry' && signal?.aborted !== true) {
        options.onRetry?.();
        await this.#wait(rpc, decision.afterMs, signal);
        continue;
      }
      if (!outcome.ok) throw outcome.error;
      if (options.explain !== true) return outcome.value;
      const held = attempts.flatMap((one) => one.stages);
      const waited = held.reduce((sum, stage) => sum + stage.waitedMs, 0);
      const times = { tookMs: elapsedMs, waitedMs: waited, backoffMs: 0 };
      return { value: outcome.value, explanation: { configVersion: 1, ...times, attempts } };
    }
  }

  /** The circuit of one peer; it opens by hand, or by what the gate answers, never by failures. */
  breaker(address: string): FakeBreaker {
    const canonical = canonicalAddress(address);
    return new FakeBreaker(canonical, this.#isolated, {
      retryAfterMs: COOLDOWN_MS,
      requireOpen: () => this.#checkOpen(),
      admit: () => {
        const named = { verb: 'admit', rpc: '', table: undefined, n: 1 } as const;
        const request: GateRequest = { ...named, address: canonical };
        this.#admit(request, DEFAULT_MAX_WAIT_MS);
        return (verdict) => void this.#verdicts.push({ request, verdict: verdict as FakeVerdict });
      },
    });
  }

  /** As the real one: a report holds calls that name the bucket, and the pressure of a verdict is a report. */
  pressure(bucket: string): FakeBucketPressure {
    return this.#pressures.window(bucket, DEFAULT_MAX_WAIT_MS);
  }

  /** As the real one, one candidate after the other and without its timeouts. */
  readFromPeers<T>(
    options: FakePeerReadOptions<T>,
    read: FakePeerReadCallback<T>,
    fallback: FakeFallback<T>,
  ): Promise<FakePeerRead<T>> {
    const { rpc = '', signal, maxWaitMs = DEFAULT_MAX_WAIT_MS, classify } = options;
    const table = options.table === undefined ? undefined : canonicalKey(options.table);
    return readFromFakePeers(options, read, fallback, {
      admit: async (address) => {
        const request: GateRequest = { verb: 'readFromPeers', rpc, table, address, n: 1 };
        await this.#wait(rpc, this.#admit(request, maxWaitMs), signal);
        return (outcome) => this.#judge(request, outcome, classify, signal);
      },
    });
  }

  /** Records the patch; its version counts from 2, as the first change of a runtime's does. */
  async updateConfig(patch: unknown): Promise<{ readonly version: number }> {
    this.#checkOpen();
    this.#patches.push(patch);
    return { version: this.#patches.length + 1 };
  }

  /** Rejects who waits with `RuntimeClosedError`, and every call from now on. */
  detach(): void {
    this.#detached = true;
    const waiting = [...this.#rejecters.keys()];
    for (const reject of waiting) {
      reject(new RuntimeClosedError('the thread has detached from the runtime'));
    }
  }

  async #attempt<T>(
    options: FakeCallOptions<T>,
    attempt: FakeAttempt<T>,
    number: number,
  ): Promise<FakeAttempted<T>> {
    const {
      rpc,
      address,
      bucket,
      weight: n = 1,
      signal,
      maxWaitMs = DEFAULT_MAX_WAIT_MS,
    } = options;
    const table = options.table === undefined ? undefined : canonicalKey(options.table);
    const named = { verb: 'call' as const, rpc, table, n };
    const request: GateRequest = {
      ...named,
      ...(address !== undefined && { address }),
      ...(bucket !== undefined && { bucket }),
    };
    signal?.throwIfAborted();
    this.#check(rpc);
    const pressedMs =
      bucket === undefined ? 0 : await this.#pressures.wait(bucket, maxWaitMs, signal);
    const waitMs = this.#admit(request, Math.max(maxWaitMs - pressedMs, 0));
    await this.#wait(rpc, waitMs, signal);
    let outcome: FakeOutcome<T>;
    try {
      outcome = { ok: true, value: await attempt({ attempt: number, signal }) };
    } catch (error) {
      outcome = { ok: false, error };
    }
    const verdict = this.#judge(request, outcome, options.classify, signal);
    const pressure = pressureOf(verdict);
    if (bucket !== undefined && pressure !== undefined) this.#pressures.report(bucket, pressure);
    return { outcome, verdict, waitedMs: pressedMs + waitMs, pressedMs };
  }

  #judge<T>(
    request: GateRequest,
    outcome: FakeOutcome<T>,
    classify: FakeClassifier<T> | undefined,
    signal: AbortSignal | undefined,
  ): FakeVerdict {
    const aborted = !outcome.ok && signal?.aborted === true;
    const verdict = aborted ? 'ignored' : (classify ?? classifyByError)(outcome);
    this.#verdicts.push({ request, verdict });
    return verdict;
  }

  #nowMs(): number {
    return this.#time?.nowMs ?? 0;
  }

  #ask(request: GateRequest): OpenAnswer {
    if (request.rpc === '') this.#checkOpen();
    else this.#check(request.rpc);
    const address = request.address === undefined ? undefined : canonicalAddress(request.address);
    this.#requests.push(request);
    const isIsolated = address !== undefined && this.#isolated.has(address);
    const answer = isIsolated ? ISOLATED : this.#answer(request);
    const kind: unknown = answer?.kind;
    if (kind !== 'admit' && kind !== 'refuse' && kind !== 'circuit-open') {
      const rule = "'admit', 'refuse' or 'circuit-open'";
      throw new TypeError(`kind of an answer must be ${rule}, got ${describeValue(kind)}`);
    }
    if (answer.kind !== 'circuit-open') return answer;
    if (address === undefined)
      throw new TypeError(
        `circuit-open must answer a request with an address, got ${request.verb}`,
      );
    const { retryAfterMs } = answer;
    const message = `the circuit of ${address} is open, try again in ${retryAfterMs} ms`;
    throw new CircuitOpenError(message, { address, retryAfterMs });
  }

  #admit(request: GateRequest, maxWaitMs: number): number {
    const answer = this.#ask(request);
    const { rpc, table } = request;
    const named = table === undefined ? { rpc } : { rpc, table };
    if (answer.kind === 'refuse') {
      const { retryAfterMs, stage = 'host' } = answer;
      throw new RateLimitExceededError('the fake gate refuses', { retryAfterMs, stage, ...named });
    }
    const waitMs = answer.waitMs ?? 0;
    if (waitMs <= maxWaitMs) return waitMs;
    throw new RateLimitExceededError(`the wait would be ${waitMs} ms`, {
      retryAfterMs: waitMs,
      stage: 'host',
      ...named,
    });
  }

  #wait(
    rpc: string,
    waitMs: number,
    signal: AbortSignal | undefined,
    wakers?: Set<() => void>,
  ): Promise<void> {
    const time = this.#time;
    if (time === undefined || waitMs === 0) return Promise.resolve();
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        cancel();
        wakers?.delete(wake);
        this.#rejecters.delete(fail);
        signal?.removeEventListener('abort', abort);
        finish();
      };
      const fail = (reason: unknown): void => settle(() => reject(reason));
      const abort = (): void => fail(signal?.reason);
      const wake = (): void => settle(resolve);
      wakers?.add(wake);
      const cancel = time.setTimer(waitMs, () => settle(resolve));
      this.#rejecters.set(fail, rpc);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  #check(rpc: string): void {
    this.#checkOpen();
    if (this.#rpcs !== undefined && !this.#rpcs.includes(rpc)) {
      const rule = `must be one of ${this.#rpcs.join(', ')}`;
      throw new UnknownRpcError(`rpc ${rule}, got ${describeValue(rpc)}`, { rpc });
    }
  }

  #checkOpen(): void {
    if (this.#detached) throw new RuntimeClosedError();
  }
}

/** What is given as undefined is not given. */
function given(retry: FakeRetry | undefined): Partial<RetryTerms> {
  return Object.fromEntries(Object.entries(retry ?? {}).filter(([, value]) => value !== undefined));
}
