/**
 * The verbs of one RPC type's host-level limit, and the fast path: one kernel call when the limiter reads the coarse
 * clock. Its fields are plain properties that the constructor alone writes, and few: the engine then takes them for
 * constants, which halves what is left beside the kernel call.
 */
import { type Kernel, TakeCode } from '../shared/kernel/port.js';
import type { AcquireOptions, HostLimiter, Waited } from './host-limiter.js';

/** A constant of this module costs nothing to compare with. */
const GRANTED: number = TakeCode.GRANTED;

export class RpcLimiter {
  /** RPC type that the verbs are bound to. */
  declare readonly rpc: string;
  declare private readonly kernel: Kernel;
  declare private readonly bucket: number;
  declare private readonly stats: number;
  declare private readonly host: HostLimiter;
  declare private coarse: boolean;

  /** @internal */
  constructor(host: HostLimiter, kernel: Kernel, bucket: number, stats: number) {
    this.rpc = host.rpc;
    this.kernel = kernel;
    this.bucket = bucket;
    this.stats = stats;
    this.host = host;
    this.coarse = host.readsCoarse();
  }

  /**
   * Takes `n` permits if they are there. Never waits.
   * @throws RangeError when `n` is more than the burst, RuntimeClosedError.
   */
  tryAcquire(n = 1): boolean {
    if (
      n === 1 &&
      this.coarse &&
      this.kernel.tryAcquireCoarse(this.bucket, this.stats) === GRANTED
    ) {
      return true;
    }
    return this.host.tryAcquire(n);
  }

  /**
   * Takes `n` permits, waiting for them if need be. First come, first served within a thread; in the order of
   * reservations across threads.
   * @throws RateLimitExceededError when the wait would be longer than `maxWaitMs` or the queue is full; the signal's
   * reason when it aborts; RangeError; RuntimeClosedError.
   */
  acquire(options?: AcquireOptions): Promise<Waited> {
    return this.host.acquire(options);
  }

  /**
   * As {@link acquire}, blocking the thread: for CPU-bound worker threads.
   * @throws also IllegalStateError on the main thread, and while waiters of this thread are queued.
   */
  acquireSync(options?: Omit<AcquireOptions, 'signal'>): Waited {
    return this.host.acquireSync(options);
  }

  /**
   * Takes `n` permits in any case, in debt if need be; the caller waits by itself.
   * @returns how long, in ms. @throws RangeError when the debt would pass a year; RuntimeClosedError.
   */
  reserve(n = 1): { readonly waitMs: number } {
    return this.host.reserve(n);
  }

  /** Waiters of this thread. */
  get waiting(): number {
    return this.host.waiting;
  }

  /** @internal The configuration may have changed, or the thread has left. */
  refresh(): void {
    const coarse = this.host.readsCoarse();
    if (coarse !== this.coarse) this.coarse = coarse;
  }
}
