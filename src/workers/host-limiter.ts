/**
 * The host-level limit of one RPC type as one thread uses it, all but the fast path (rpc-limiter.ts): waits, dry runs,
 * the accounts of calls under way. One bucket for the whole process.
 */

import { taken } from '../shared/booking.js';
import { IllegalStateError, RuntimeClosedError } from '../shared/errors.js';
import { type Kernel, TakeCode } from '../shared/kernel/port.js';
import { CALL_STATS, MARK, THREAD } from '../shared/layout.js';
import { undoAt } from '../shared/limiter-words.js';
import { checkWeight } from '../shared/quota.js';
import { rpcMarks } from '../shared/rpc-names.js';
import { impossible } from '../shared/token-bucket.js';
import { blockForPermits } from './blocking-wait.js';
import { checkKnown } from './known-options.js';
import { mendCoarseClock } from './mend-coarse-clock.js';
import { QueuedBucket } from './queued-bucket.js';
import type { Grant } from './queued-limiter.js';
import { SpotHold } from './spot-hold.js';
import type { ThreadContext } from './thread-context.js';
import type { WaitHistograms } from './wait-histograms.js';
import { checkMaxWait, checkSignal } from './wait-options.js';
import { WaitQueue } from './wait-queue.js';

export interface AcquireOptions {
  /** Permits, an integer >= 1. Default 1. */
  readonly n?: number;
  /** Longest wait in ms; 0: do not wait. Default: `waiting.maxWaitMs` of the configuration. */
  readonly maxWaitMs?: number;
  /** Ends the wait; nothing stays taken that can be given back. */
  readonly signal?: AbortSignal;
}

export interface Waited {
  /** How long the caller was held, in ms. */
  readonly waitedMs: number;
}

const SYNC_OPTIONS: ReadonlySet<string> = new Set(['n', 'maxWaitMs']);
const ACQUIRE_OPTIONS: ReadonlySet<string> = new Set([...SYNC_OPTIONS, 'signal']);
const FREE: Grant = { booking: undefined, waitedNs: 0 };

export class HostLimiter {
  readonly #kernel: Kernel;
  readonly #bucket: number;
  readonly #stats: number;
  readonly id: number;
  readonly rpc: string;
  readonly #thread: ThreadContext;
  readonly #shadow: number;
  readonly #name: number;
  readonly #bytes: Uint8Array;
  readonly #waits: WaitHistograms;
  readonly #limiter: QueuedBucket;
  readonly #queue: WaitQueue;
  readonly #isMainThread: boolean;
  #closed: RuntimeClosedError | undefined;

  constructor(
    thread: ThreadContext,
    rpc: { readonly id: number; readonly name: string },
    waits: WaitHistograms,
    isMainThread: boolean,
  ) {
    const { layout, kernel, buffer } = thread.arena;
    this.id = rpc.id;
    this.rpc = rpc.name;
    this.#thread = thread;
    this.#kernel = kernel;
    this.#bucket = layout.bucket(rpc.id, false);
    this.#shadow = layout.bucket(rpc.id, true);
    this.#stats = thread.place.stats(rpc.id, 'host');
    this.#name = layout.name(rpc.id);
    this.#bytes = new Uint8Array(buffer);
    this.#waits = waits;
    this.#limiter = new QueuedBucket(thread, rpc.name, {
      bucket: this.#bucket,
      stats: this.#stats,
      waiting: thread.place.calls(rpc.id) + CALL_STATS.HOST_WAITING,
    });
    this.#queue = new WaitQueue(this.#limiter, thread);
    this.#isMainThread = isMainThread;
  }

  /** See `RpcLimiter.acquire`. */
  async acquire(options: AcquireOptions = {}): Promise<Waited> {
    checkKnown(options, ACQUIRE_OPTIONS);
    const n = options.n === undefined ? 1 : checkWeight(options.n);
    const maxWaitMs = checkMaxWait(options.maxWaitMs) ?? this.#thread.settings().maxWaitMs;
    const signal = checkSignal(options.signal);
    this.#underWay(1);
    try {
      const grant = await this.enter(n, maxWaitMs, signal);
      this.spend(grant);
      return { waitedMs: grant.waitedNs / 1e6 };
    } finally {
      this.#underWay(-1);
    }
  }

  /** See `RpcLimiter.acquireSync`. */
  acquireSync(options: Omit<AcquireOptions, 'signal'> = {}): Waited {
    checkKnown(options, SYNC_OPTIONS);
    const n = options.n === undefined ? 1 : checkWeight(options.n);
    const maxWaitMs = checkMaxWait(options.maxWaitMs) ?? this.#thread.settings().maxWaitMs;
    if (this.#isMainThread)
      throw new IllegalStateError('acquireSync must not block the main thread');
    if (this.#queue.size > 0) {
      throw new IllegalStateError(
        `acquireSync would overtake ${this.#queue.size} waiters of this thread`,
      );
    }
    this.#checkOpen();
    if (this.#dryRun(n, maxWaitMs)) return { waitedMs: 0 };
    const since = this.#thread.nowNs();
    this.#underWay(1);
    try {
      this.spend(blockForPermits(this.#thread, this.#limiter, n, since, since + maxWaitMs * 1e6));
    } finally {
      this.#underWay(-1);
    }
    const waitedNs = this.#thread.nowNs() - since;
    this.#waits.record('host', waitedNs);
    return { waitedMs: waitedNs / 1e6 };
  }

  /** See `RpcLimiter.reserve`. */
  reserve(n: number): { readonly waitMs: number } {
    checkWeight(n);
    this.#checkOpen();
    if (this.#dryRun(n, Number.POSITIVE_INFINITY)) return { waitMs: 0 };
    const now = this.#thread.nowNs();
    const wait = this.#kernel.reserve(
      this.#bucket,
      this.#stats,
      this.#thread.scratch,
      now,
      n,
      Number.POSITIVE_INFINITY,
    );
    if (wait === Number.NEGATIVE_INFINITY)
      throw new RangeError(`n must not lead into more than a year of debt, got ${n}`);
    if (Number.isNaN(wait)) return { waitMs: 0 };
    this.#limiter.spendTokens(n);
    return { waitMs: wait / 1e6 };
  }

  /**
   * Takes `n` permits on the spot for a call that has not started yet; undefined when it has to wait, or something else
   * has to be seen to: then `enter` does.
   */
  holdNow(n: number, signal: AbortSignal | undefined): SpotHold | undefined {
    // Whoever waits in this thread goes first.
    if (this.#closed !== undefined || this.#queue.size > 0 || signal?.aborted === true)
      return undefined;
    const now = this.#thread.nowNs();
    const code = this.#kernel.hold(this.#bucket, this.#stats, this.#thread.scratch, now, n);
    if (code !== TakeCode.GRANTED) return undefined;
    return new SpotHold(this.#thread, this.#limiter, n);
  }

  /** Takes `n` permits for a call that has not started yet: to be spent or cancelled. */
  enter(n: number, maxWaitMs: number, signal: AbortSignal | undefined): Grant | Promise<Grant> {
    if (this.#closed !== undefined) throw this.#closed;
    // Whoever waits in this thread goes first.
    if (this.#queue.size === 0 && signal?.aborted !== true) {
      const now = this.#thread.nowNs();
      const { arena, scratch } = this.#thread;
      const code = this.#kernel.hold(this.#bucket, this.#stats, scratch, now, n);
      if (code === TakeCode.GRANTED)
        return { booking: taken(n, now, undoAt(arena, scratch)), waitedNs: 0 };
      if (code === TakeCode.CLOSED) throw new RuntimeClosedError();
      if (code === TakeCode.NOT_ENFORCED) {
        this.#dryRun(n, maxWaitMs);
        return FREE;
      }
    }
    this.#checkOpen();
    if (this.#dryRun(n, maxWaitMs)) return FREE;
    const grant = this.#queue.acquire(n, maxWaitMs, signal);
    return grant instanceof Promise ? this.#wait(grant) : grant;
  }

  spend({ booking }: Grant): void {
    if (booking !== undefined) this.#limiter.spend(booking);
  }

  cancel({ booking }: Grant): void {
    if (booking !== undefined) this.#limiter.cancel(booking, this.#thread.nowNs());
  }

  /** Limits or settings may have changed. */
  refresh(): void {
    const settings = this.#thread.settings();
    if (!settings.host || settings.hostDryRun) this.#queue.releaseAll();
    else this.#queue.pump();
  }

  rejectAll(reason: unknown): void {
    this.#queue.rejectAll(reason);
  }

  /** Rejects the waiters and takes no more calls: the thread's counters are no longer its own. */
  close(reason: RuntimeClosedError): void {
    this.#queue.rejectAll(reason);
    this.#closed = reason;
  }

  /** Waiters of this thread. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Takes `n` permits if they are there, by the precise clock. Never waits.
   * @throws RangeError when `n` is more than the burst, RuntimeClosedError.
   */
  tryAcquire(n: number): boolean {
    checkWeight(n);
    if (this.#closed !== undefined) throw this.#closed;
    const now = this.#thread.nowNs();
    const code = this.#kernel.tryAcquire(this.#bucket, this.#stats, now, n);
    if (this.readsCoarse()) mendCoarseClock(this.#thread.arena, now);
    switch (code) {
      case TakeCode.GRANTED:
        return true;
      case TakeCode.REFUSED:
        return false;
      case TakeCode.CLOSED:
        throw new RuntimeClosedError();
      case TakeCode.IMPOSSIBLE:
        throw impossible(n, this.#limiter.maxWeight());
      default:
        this.#dryRun(n, 0);
        return true;
    }
  }

  /** Charges the shadow bucket instead. @returns whether this is a dry run. */
  #dryRun(n: number, maxWaitMs: number): boolean {
    if (!this.#thread.settings().hostDryRun) return false;
    const { place, scratch } = this.#thread;
    const now = this.#thread.nowNs();
    const maxWaitNs = maxWaitMs * 1e6;
    const wait = this.#kernel.reserve(this.#shadow, place.shadowStats, scratch, now, n, maxWaitNs);
    if (wait > 0) this.#waits.record('dryRun', wait);
    else if (wait < 0) this.#waits.record('dryRun', -wait - 1);
    return true;
  }

  async #wait(pending: Promise<Grant>): Promise<Grant> {
    const grant = await pending;
    this.#waits.record('host', grant.waitedNs);
    return grant;
  }

  /** While something is under way, permits may be held that are neither spent nor given back. */
  #underWay(change: 1 | -1): void {
    this.#thread.count(this.#thread.place.header + THREAD.ACTIVE, change);
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
    if (this.#thread.closing()) throw new RuntimeClosedError();
  }

  /** Whether the configuration lets the fast path read the coarse clock. */
  readsCoarse(): boolean {
    return this.#closed === undefined && (rpcMarks(this.#bytes, this.#name) & MARK.COARSE) !== 0;
  }
}
