/**
 * The atomic decisions on the arena, as one port with two implementations: the WebAssembly kernel and its `Atomics`
 * twin. All pointers are byte offsets into the arena, all times ns since the runtime's epoch. Nothing here checks its
 * arguments; the limiters do.
 */
export interface Kernel {
  readonly kind: 'wasm' | 'twin';

  /** Takes `n` tokens if they are there. One of {@link TakeCode}, never `STALE`. */
  tryAcquire(bucket: number, stats: number, nowNs: number, n: number): number;

  /**
   * As {@link Kernel.tryAcquire}, but for a call that has not started yet: what was taken counts as reserved, and can be
   * given back by what is left at `out`.
   */
  hold(bucket: number, stats: number, out: number, nowNs: number, n: number): number;

  /** Takes one token by the coarse clock, which reads `STALE` when it must not be used. A refusal by it is no answer. */
  tryAcquireCoarse(bucket: number, stats: number): number;

  /**
   * Takes `n` tokens, in debt if need be, unless the wait would be longer than `maxWaitNs`. Writes the word before and
   * after (two u64) to `out`.
   * @returns the wait in ns; `-wait - 1` of a refusal; NaN: not enforced; -Infinity: more debt than can be held.
   */
  reserve(
    bucket: number,
    stats: number,
    out: number,
    nowNs: number,
    n: number,
    maxWaitNs: number,
  ): number;

  /** Undoes the reservation at `out` where that is sound. @returns 1, or 0 when it must lapse. */
  giveBack(bucket: number, stats: number, out: number, nowNs: number, n: number): number;

  /** Gives back `n` tokens unconditionally, up to a full bucket. */
  refund(bucket: number, n: number): void;

  /** Tokens there, negative in debt, NaN where nothing is enforced. */
  available(bucket: number, nowNs: number): number;

  /** One writer. Swaps rate and burst; `intervalNs` 0: not enforced. Keeps balance and debt unless `reset` is 1. */
  configure(
    bucket: number,
    nowNs: number,
    intervalNs: number,
    tauNs: number,
    qps: number,
    burst: number,
    reset: number,
  ): void;

  /** Counts a call of a pair. @returns 1 when the pair has a limit. */
  enter(cell: number): number;

  /** As {@link Kernel.reserve}, of one call of a pair's strict limiter. */
  strictReserve(cell: number, stats: number, out: number, nowNs: number, maxWaitNs: number): number;

  /** As {@link Kernel.giveBack}, but only while nothing was reserved behind. */
  strictGiveBack(cell: number, stats: number, out: number): number;

  /** One writer. `intervalNs` 0 removes the limit. What is queued stays queued unless `reset` is 1. */
  strictConfigure(
    cell: number,
    nowNs: number,
    intervalNs: number,
    qps: number,
    reset: number,
  ): void;

  /** Moves the coarse clock forward, never back, and not at all once closed. */
  publishClock(nowNs: number): void;

  /** The coarse clock in ns, 0 when it must not be used. */
  clock(): number;

  /** Sets the coarse clock to 0 if it still reads `staleNs`. */
  retireClock(staleNs: number): void;

  /** From now on `tryAcquire` says `CLOSED` and the coarse clock reads 0. */
  close(): void;

  /** `n` atomic adds of 1 to the u64 at `word`: the yardstick of the benchmark. */
  addLoop(word: number, n: number): void;
}

/** What {@link Kernel.tryAcquire} says. */
export const TakeCode = {
  REFUSED: 0,
  GRANTED: 1,
  /** The bucket limits nothing: switched off, or a dry run. */
  NOT_ENFORCED: 2,
  /** The coarse clock has no time: use the precise one. */
  STALE: 3,
  /** More than the bucket ever holds. */
  IMPOSSIBLE: 4,
  /** The runtime is closing. */
  CLOSED: 5,
} as const;

/** Words of the arena that the kernel knows by address. */
export const STATE_WORD = 0;
export const CLOCK_WORD = 64;

/** A bucket: its word, then 8 immutable slots of 64 bytes. */
export const BUCKET_SLOTS = 64;
export const BUCKET_BYTES: number = BUCKET_SLOTS + 8 * 64;
/** Fields of a bucket's slot: u64 interval, u64 tau, u64 time of the change, u64 plan, f64 qps, f64 burst. */
export const SLOT = { INTERVAL: 0, TAU: 8, CHANGED_AT: 16, PLAN: 24, QPS: 32, BURST: 40 } as const;

/** A pair's cell: u64 count, u64 word, 4 slots of u64 (plan in the top 10 bits, interval) and f64 qps. */
export const CELL = { COUNT: 0, WORD: 8, SLOTS: 16, GENERATION: 84 } as const;

/** A thread's counters for one limiter, f64 each (exact to 2^53), written by that thread alone. */
export const STATS = {
  /** Tokens granted and spent in one step. */
  DIRECT: 0,
  /** Tokens granted to a reservation; each ends in `SPENT`, `RETURNED` or `LOST`. */
  RESERVED: 8,
  SPENT: 16,
  RETURNED: 24,
  LOST: 32,
  /** Refusals. Kernel, for `tryAcquire`; else the gate. */
  REFUSED: 40,
  /** Calls that came through `gate.call`. */
  CALLS: 48,
  /** BUSY answers. */
  BUSY: 56,
} as const;
export const STATS_BYTES = 64;

export const EPOCH_SHIFT = 58n;
export const TIME_MASK: bigint = (1n << EPOCH_SHIFT) - 1n;
export const PLAN_SHIFT = 54n;
export const INTERVAL_MASK: bigint = (1n << PLAN_SHIFT) - 1n;
/** A year: the sum of a debt and a burst never reaches the epoch bits. */
export const MAX_DEBT_NS = 31_536_000_000_000_000;
