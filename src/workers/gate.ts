/**
 * The gate: what one thread calls its downstream through. `call` takes a call through all stages; the other verbs use one
 * of them alone.
 */
import { isMainThread } from 'node:worker_threads';
import { RuntimeClosedError, UnknownRpcError } from '../shared/errors.js';
import type { Explained } from '../shared/explanation.js';
import { STATE_WORD } from '../shared/kernel/port.js';
import { describeValue } from '../shared/quota.js';
import { AddressBreaker } from './address-breaker.js';
import type { Attempt } from './attempt-run.js';
import { BucketPressure } from './bucket-pressure.js';
import type { BusyReports } from './busy-reports.js';
import { CallAccount } from './call-account.js';
import { CallLine } from './call-line.js';
import type { CallOptions } from './call-options.js';
import { CallRunner } from './call-runner.js';
import { CircuitStage } from './circuit-stage.js';
import type { ConfigPatch, RuntimeOptions, UpdateOptions } from './config/options.js';
import type { ControlLink } from './control-link.js';
import { type AcquireOptions, HostLimiter, type Waited } from './host-limiter.js';
import { HostStage } from './host-stage.js';
import type { RequestBody } from './messages.js';
import type { Classifier } from './outcome.js';
import type {
  FallbackCallback,
  PeerRead,
  PeerReadCallback,
  PeerReadOptions,
} from './peer-read-options.js';
import { PeerReader } from './peer-reader.js';
import { PressureStage } from './pressure-stage.js';
import { RpcLimiter } from './rpc-limiter.js';
import type { RpcTable } from './rpc-table.js';
import type { TableStage } from './table-stage.js';
import type { ThreadCircuits } from './thread-circuits.js';
import type { ThreadClassifier } from './thread-classifier.js';
import type { ThreadContext } from './thread-context.js';
import type { ThreadPressure } from './thread-pressure.js';

export interface GateParts {
  readonly thread: ThreadContext;
  readonly rpcs: RpcTable;
  readonly tables: TableStage;
  readonly circuits: ThreadCircuits;
  readonly pressure: ThreadPressure;
  readonly busy: BusyReports;
  readonly link: Pick<ControlLink, 'request'>;
  readonly detach: () => void;
  readonly classifier: ThreadClassifier;
  /** From [0, 1): the jitter of backoffs. Default: Math.random. */
  readonly random?: () => number;
}

export class Gate {
  readonly #parts: GateParts;
  readonly #limiters = new Map<string, HostLimiter>();
  readonly #bound = new Map<string, RpcLimiter>();
  readonly #lines = new Map<string, CallLine>();
  readonly #calls: CallRunner;
  readonly #peers: PeerReader;
  #detached = false;

  constructor(parts: GateParts) {
    this.#parts = parts;
    const { thread, circuits, pressure, classifier, random = Math.random } = parts;
    const { classify } = classifier;
    const circuitStage = new CircuitStage(circuits);
    const stages = [parts.tables, new HostStage((rpc) => this.#limiter(rpc)), circuitStage];
    const lineOf = (rpc: string): CallLine => this.#line(rpc);
    const isClosed = (): boolean => this.#isClosed();
    this.#calls = new CallRunner({
      thread,
      stages,
      pressureStage: new PressureStage(pressure),
      onPressure: (bucket, reported) => pressure.report(pressure.place(bucket), reported),
      lineOf,
      classifier,
      random,
    });
    this.#peers = new PeerReader({
      thread,
      circuits,
      stages,
      circuitStage,
      lineOf,
      isClosed,
      classify,
    });
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
   * Takes `attempt` through all stages and runs it: pressure window, table limit, host-level limit, circuit, attempt, classify, record; and
   * again, as far as `retry` allows it, the stages included. What an earlier stage took is given back when a later one
   * refuses. Resolves and rejects as the last attempt does.
   * @throws (rejects) RateLimitExceededError when a stage would hold it longer than `maxWaitMs`; CircuitOpenError;
   * AttemptTimeoutError, DeadlineExceededError; the signal's reason; what the classifier throws; UnknownRpcError;
   * RuntimeClosedError; RangeError or TypeError for bad options.
   */
  call<T>(
    options: CallOptions<T> & { readonly explain: true },
    attempt: Attempt<T>,
  ): Promise<Explained<T>>;
  call<T>(options: CallOptions<T>, attempt: Attempt<T>): Promise<T>;
  call<T>(options: CallOptions<T>, attempt: Attempt<T>): Promise<T | Explained<T>> {
    return this.#calls.run(options, attempt);
  }

  /** The circuit of one peer, however its address is spelled. @throws TypeError, RangeError for no address; RuntimeClosedError. */
  breaker(address: string): AddressBreaker {
    return new AddressBreaker(this.#parts.circuits, address, () => this.#isClosed());
  }

  /**
   * The pressure window of one bucket, a part of a downstream that reports its pressure on its own: a report holds back the
   * calls of all threads that name the bucket. Buckets need no declaration; one without a window takes no memory.
   * @throws TypeError, RuntimeClosedError.
   */
  pressure(bucket: string): BucketPressure {
    const { thread, pressure } = this.#parts;
    return new BucketPressure({ thread, pressure, isClosed: () => this.#isClosed() }, bucket);
  }

  /**
   * Reads from one of several peers that may have it: candidates whose circuit is closed, in order or raced; then one whose
   * circuit may be probed; then `fallback`. A candidate whose circuit is open is passed over, which is no attempt and no
   * miss. `read` must end, or call `connected()`, within `connectTimeoutMs`. Says who served it.
   * @throws (rejects) what `fallback` throws, or the classifier; the signal's reason; UnknownRpcError; RuntimeClosedError;
   * RangeError or TypeError for bad options.
   */
  readFromPeers<T>(
    options: PeerReadOptions<T>,
    read: PeerReadCallback<T>,
    fallback: FallbackCallback<T>,
  ): Promise<PeerRead<T>> {
    return this.#peers.read(options, read, fallback);
  }

  /**
   * Changes the configuration of the whole process.
   * @throws (rejects) ConfigError, or ConfigConflictError where `ifVersion` is no longer in force; the old one stays.
   */
  async updateConfig(
    patch: ConfigPatch,
    { ifVersion }: UpdateOptions = {},
  ): Promise<{ readonly version: number }> {
    const body: RequestBody = { kind: 'update', patch };
    if (ifVersion === undefined) return { version: await this.#parts.link.request(body) };
    if (!Number.isSafeInteger(ifVersion) || ifVersion < 1) {
      throw new RangeError(`ifVersion must be an integer >= 1, got ${String(ifVersion)}`);
    }
    return { version: await this.#parts.link.request({ ...body, ifVersion }) };
  }

  /** @internal */
  async reloadConfig(options: RuntimeOptions): Promise<{ readonly version: number }> {
    return { version: await this.#parts.link.request({ kind: 'reload', options }) };
  }

  /** Leaves the runtime: waiters are rejected, the thread's place is free. The gate takes no more calls. */
  detach(): void {
    this.#leave(new RuntimeClosedError('the thread has detached from the runtime'));
  }

  /** @internal */
  useClassifier(classify: Classifier | undefined): void {
    this.#parts.classifier.use(classify);
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
    this.#parts.pressure.refresh();
  }

  #leave(reason: RuntimeClosedError): void {
    if (this.#detached) return;
    this.#detached = true;
    for (const limiter of this.#limiters.values()) limiter.close(reason);
    for (const bound of this.#bound.values()) bound.refresh();
    this.#parts.tables.close(reason);
    this.#parts.pressure.close(reason);
    this.#lines.clear();
    this.#calls.close(reason);
    this.#parts.circuits.leave();
    this.#parts.detach();
  }

  #isClosed(): boolean {
    return this.#detached || this.#parts.thread.closing();
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

  #line(rpc: string): CallLine {
    const known = this.#lines.get(rpc);
    if (known !== undefined) return known;
    const limiter = this.#limiter(rpc);
    const { thread, busy } = this.#parts;
    const line = new CallLine(thread, limiter, new CallAccount(thread, busy, limiter.id));
    this.#lines.set(rpc, line);
    return line;
  }
}
