/**
 * The gate: what one thread calls its downstream through. `call` takes an attempt through all stages; the other verbs use
 * the host-level limit alone.
 */
import { isMainThread } from 'node:worker_threads';
import { RuntimeClosedError, UnknownRpcError } from '../shared/errors.js';
import { STATE_WORD, STATS } from '../shared/kernel/port.js';
import { THREAD } from '../shared/layout.js';
import { checkWeight, describeValue } from '../shared/quota.js';
import { canonicalKey, type TableKey } from '../shared/table-key.js';
import { type AdmissionStage, type Admitted, admit } from './admission.js';
import type { BusyReports } from './busy-reports.js';
import type { ConfigPatch, RuntimeOptions } from './config/options.js';
import type { ControlLink } from './control-link.js';
import { type AcquireOptions, HostLimiter, type Waited } from './host-limiter.js';
import { HostStage } from './host-stage.js';
import { type Classifier, classifyByError, type Outcome, type Verdict } from './outcome.js';
import { RpcLimiter } from './rpc-limiter.js';
import type { RpcTable } from './rpc-table.js';
import type { TableStage } from './table-stage.js';
import type { ThreadContext } from './thread-context.js';
import { checkMaxWait, checkSignal } from './wait-options.js';

export interface CallOptions<T = unknown> {
  /** RPC type, one of the configuration's. */
  readonly rpc: string;
  /** Key that is slowed when the downstream is busy, such as a table id. `10086n`, `10086` and `'10086'` are one key. */
  readonly table?: TableKey;
  /** Peer that the call goes to. */
  readonly address?: string;
  /** Permits of the host-level limit that the call takes, an integer >= 1. Default 1. */
  readonly weight?: number;
  /** The caller's own abort. Ends a wait; reaches the attempt. */
  readonly signal?: AbortSignal;
  /** Longest wait over all stages, ms. Default: `waiting.maxWaitMs`. */
  readonly maxWaitMs?: number;
  /** What the outcome means. Default: the one given to `attach`, else {@link classifyByError}. */
  readonly classify?: Classifier<T>;
}

/** What an attempt is given. */
export interface AttemptContext {
  /** Counts from 1. */
  readonly attempt: number;
  readonly signal: AbortSignal | undefined;
}

export interface GateParts {
  readonly thread: ThreadContext;
  readonly rpcs: RpcTable;
  readonly tables: TableStage;
  readonly busy: BusyReports;
  readonly link: Pick<ControlLink, 'request'>;
  readonly detach: () => void;
  readonly classify: Classifier | undefined;
}

export class Gate {
  readonly #parts: GateParts;
  readonly #limiters = new Map<string, HostLimiter>();
  readonly #bound = new Map<string, RpcLimiter>();
  readonly #stages: readonly AdmissionStage[];
  readonly #active: number;
  #detached = false;

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#stages = [parts.tables, new HostStage((rpc) => this.#limiter(rpc))];
    this.#active = parts.thread.place.header + THREAD.ACTIVE;
  }

  /** See {@link RpcLimiter.tryAcquire}. @throws also UnknownRpcError. */
  tryAcquire(rpc: string, n = 1): boolean {
    return this.#limiter(rpc).tryAcquire(n);
  }

  /** See {@link RpcLimiter.acquire}. @throws also UnknownRpcError. */
  async acquire(rpc: string, options?: AcquireOptions): Promise<Waited> {
    return this.#limiter(rpc).acquire(options);
  }

  /** See {@link RpcLimiter.acquireSync}. @throws also UnknownRpcError. */
  acquireSync(rpc: string, options?: Omit<AcquireOptions, 'signal'>): Waited {
    return this.#limiter(rpc).acquireSync(options);
  }

  /** See {@link RpcLimiter.reserve}. @throws also UnknownRpcError. */
  reserve(rpc: string, n = 1): { readonly waitMs: number } {
    return this.#limiter(rpc).reserve(n);
  }

  /** The verbs bound to one RPC type: the fast path of a hot loop. @throws UnknownRpcError. */
  limiter(rpc: string): RpcLimiter {
    const host = this.#limiter(rpc);
    const known = this.#bound.get(rpc);
    if (known !== undefined) return known;
    const { arena, place } = this.#parts.thread;
    const bucket = arena.layout.bucket(host.id, false);
    const bound = new RpcLimiter(host, arena.kernel, bucket, place.stats(host.id, 'host'));
    this.#bound.set(rpc, bound);
    return bound;
  }

  /**
   * Takes `attempt` through all stages and runs it: table limit, host-level limit, attempt, classify, record. What an
   * earlier stage took is given back when a later one refuses. Resolves and rejects as the attempt does.
   * @throws (rejects) RateLimitExceededError when a stage would hold it longer than `maxWaitMs`; the signal's reason;
   * UnknownRpcError; RuntimeClosedError; RangeError or TypeError for bad options.
   */
  async call<T>(
    options: CallOptions<T>,
    attempt: (context: AttemptContext) => Promise<T> | T,
  ): Promise<T> {
    const { thread } = this.#parts;
    const call = checkCall(options);
    if (typeof attempt !== 'function')
      throw new TypeError(`attempt must be a function, got ${describeValue(attempt)}`);
    const limiter = this.#limiter(call.rpc);
    const maxWaitMs = checkMaxWait(options.maxWaitMs) ?? thread.settings().maxWaitMs;
    if (thread.closing()) throw new RuntimeClosedError();
    thread.count(this.#active, 1);
    try {
      call.signal?.throwIfAborted();
      const waiting = admit(this.#stages, call, maxWaitMs);
      if (waiting !== undefined) await waiting;
      thread.count(thread.place.stats(limiter.id, 'host') + STATS.CALLS, 1);
      let outcome: Outcome<T>;
      try {
        outcome = { ok: true, value: await attempt({ attempt: 1, signal: call.signal }) };
      } catch (error) {
        outcome = { ok: false, error };
      }
      if (this.#verdict(outcome, options) === 'busy') this.#parts.busy.report(limiter.id);
      if (outcome.ok) return outcome.value;
      throw outcome.error;
    } finally {
      thread.count(this.#active, -1);
    }
  }

  /** Changes the configuration of the whole process. @throws (rejects) ConfigError; the old one stays in force. */
  async updateConfig(patch: ConfigPatch): Promise<{ readonly version: number }> {
    return { version: await this.#parts.link.request({ kind: 'update', patch }) };
  }

  /** @internal */
  async reloadConfig(options: RuntimeOptions): Promise<{ readonly version: number }> {
    return { version: await this.#parts.link.request({ kind: 'reload', options }) };
  }

  /** Leaves the runtime: waiters are rejected, the thread's place is free. The gate takes no more calls. */
  detach(): void {
    this.#leave(new RuntimeClosedError('the thread has detached from the runtime'));
  }

  /** @internal The runtime is closed. */
  closeNow(): void {
    this.#leave(new RuntimeClosedError());
  }

  /** @internal Limits or settings may have changed. */
  refresh(): void {
    for (const limiter of this.#limiters.values()) limiter.refresh();
    for (const bound of this.#bound.values()) bound.refresh();
    this.#parts.tables.refresh();
  }

  #leave(reason: RuntimeClosedError): void {
    if (this.#detached) return;
    this.#detached = true;
    for (const limiter of this.#limiters.values()) limiter.close(reason);
    for (const bound of this.#bound.values()) bound.refresh();
    this.#parts.tables.rejectAll(reason);
    this.#parts.detach();
  }

  #limiter(rpc: string): HostLimiter {
    const known = this.#limiters.get(rpc);
    if (known !== undefined && !this.#detached) return known;
    const { thread, rpcs } = this.#parts;
    if (this.#detached || Atomics.load(thread.arena.i32, STATE_WORD) !== 0)
      throw new RuntimeClosedError();
    const found = rpcs.find(rpc);
    if (found === undefined) {
      const names = rpcs.all().map(({ name }) => name);
      const rule =
        names.length === 0
          ? 'no RPC type is configured'
          : `must be one of ${names.slice(0, 32).join(', ')}`;
      throw new UnknownRpcError(`rpc ${rule}, got ${describeValue(rpc)}`, {
        rpc: String(rpc).slice(0, 64),
      });
    }
    const limiter = new HostLimiter(thread, found, rpcs.waits(found.id), isMainThread);
    this.#limiters.set(rpc, limiter);
    return limiter;
  }

  #verdict<T>(outcome: Outcome<T>, { classify, signal }: CallOptions<T>): Verdict {
    // The caller's own abort is known by its signal, not by the shape of the error.
    if (!outcome.ok && signal?.aborted === true) return 'ignored';
    return (classify ?? this.#parts.classify ?? classifyByError)(outcome);
  }
}

function checkCall(options: CallOptions<never> | CallOptions): Admitted {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`options must be an object with an rpc, got ${describeValue(options)}`);
  }
  if (options.classify !== undefined && typeof options.classify !== 'function') {
    throw new TypeError(`classify must be a function, got ${describeValue(options.classify)}`);
  }
  const table = options.table ?? undefined;
  if (table !== undefined) canonicalKey(table);
  return {
    rpc: options.rpc,
    table,
    weight: options.weight === undefined ? 1 : checkWeight(options.weight, 'weight'),
    signal: checkSignal(options.signal),
  };
}
