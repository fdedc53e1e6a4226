/** One thread's queue at the bucket of RPC type 0, under virtual time, with the accounts of its permits. */
import type { Arena } from '../../src/shared/arena.js';
import { STATS } from '../../src/shared/kernel/port.js';
import { CALL_STATS } from '../../src/shared/layout.js';
import { intervalNs } from '../../src/shared/quota.js';
import { QueuedBucket } from '../../src/workers/queued-bucket.js';
import type { Grant } from '../../src/workers/queued-limiter.js';
import { WaitQueue } from '../../src/workers/wait-queue.js';
import { type Granted, type TermsSince, worstExcess } from '../shared/grant-bound.js';
import { type VirtualClock, virtualThread, type Watched, watched } from './virtual-thread.js';

export interface Accounts {
  readonly granted: number;
  readonly spent: number;
  readonly returned: number;
  readonly lost: number;
}

export class BucketLine {
  readonly arena: Arena;
  readonly clock: VirtualClock;
  readonly limiter: QueuedBucket;
  readonly queue: WaitQueue;
  /** Permits that were granted, in order, at the time they were planned for. */
  readonly planned: Granted[] = [];
  /** The same at the time the caller went on. */
  readonly gone: Granted[] = [];
  readonly history: TermsSince[] = [];
  readonly #bucket: number;
  readonly #stats: number;

  constructor(arena: Arena, clock: VirtualClock, place = 0) {
    const thread = virtualThread(arena, clock, place);
    this.arena = arena;
    this.clock = clock;
    this.#bucket = arena.layout.bucket(0, false);
    this.#stats = thread.place.stats(0, 'host');
    this.limiter = new QueuedBucket(thread, 'get_rowset', {
      bucket: this.#bucket,
      stats: this.#stats,
      waiting: thread.place.calls(0) + CALL_STATS.HOST_WAITING,
    });
    this.queue = new WaitQueue(this.limiter, thread);
  }

  /** Changes the rate; the queue hears of it at its next `pump`. qps 0: no limit. */
  configure(qps: number, burst: number, reset = false): void {
    const interval = qps === 0 ? 0 : intervalNs(qps);
    const now = this.clock.nowNs();
    this.arena.kernel.configure(
      this.#bucket,
      now,
      interval,
      interval * burst,
      qps,
      burst,
      reset ? 1 : 0,
    );
    const before = this.history.at(-1);
    this.history.push({ fromNs: now, qps, burst, fresh: reset || before?.qps === 0 });
  }

  /** Asks for `n` permits and spends them as soon as they are granted. */
  acquire({
    n = 1,
    maxWaitMs = 86_400_000,
    signal,
  }: {
    readonly n?: number;
    readonly maxWaitMs?: number;
    readonly signal?: AbortSignal;
  } = {}): Watched<Grant> {
    const spend = (grant: Grant): Grant => {
      if (grant.booking === undefined) return grant;
      this.limiter.spend(grant.booking);
      const { atNs, n: taken } = grant.booking;
      this.planned.push({ atNs, n: taken });
      this.gone.push({ atNs: this.clock.nowNs(), n: taken });
      return grant;
    };
    return watched(this.clock, () => {
      const entered = this.queue.acquire(n, maxWaitMs, signal);
      return entered instanceof Promise ? entered.then(spend) : spend(entered);
    });
  }

  /** Takes what is there without waiting. */
  tryAcquire(n = 1): boolean {
    const now = this.clock.nowNs();
    const taken = this.arena.kernel.tryAcquire(this.#bucket, this.#stats, now, n) === 1;
    if (taken) {
      this.planned.push({ atNs: now, n });
      this.gone.push({ atNs: now, n });
    }
    return taken;
  }

  available(): number {
    return this.arena.kernel.available(this.#bucket, this.clock.nowNs());
  }

  accounts(): Accounts {
    const read = (counter: number): number =>
      this.arena.f64[(this.#stats + counter) >>> 3] as number;
    const direct = read(STATS.DIRECT);
    return {
      granted: direct + read(STATS.RESERVED),
      spent: direct + read(STATS.SPENT),
      returned: read(STATS.RETURNED),
      lost: read(STATS.LOST),
    };
  }

  /** Permits that were granted and have come to no end yet. */
  held(): number {
    const { granted, spent, returned, lost } = this.accounts();
    return granted - spent - returned - lost;
  }

  /** How far planned grants exceed burst + qps * elapsed in the worst window. */
  excess(): number {
    return worstExcess(this.planned, this.history);
  }
}
