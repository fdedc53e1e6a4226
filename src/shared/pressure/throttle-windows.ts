/**
 * What a client makes of a pressure signal: it leaves the bucket alone for `maxThrottleMs * pressure^2`. The square keeps
 * a store that is only warm nearly unthrottled. One window per bucket; the newest signal replaces the one before.
 */
export class ThrottleWindows {
  readonly #maxThrottleMs: number;
  readonly #untilMs = new Map<string, number>();

  /** `maxThrottleMs` must be a finite number >= 0: `RangeError`. */
  constructor(maxThrottleMs: number) {
    if (!Number.isFinite(maxThrottleMs) || maxThrottleMs < 0) {
      throw new RangeError(`maxThrottleMs must be a finite number >= 0, got ${maxThrottleMs}`);
    }
    this.#maxThrottleMs = maxThrottleMs;
  }

  /** Buckets with a window. An expired one counts until it is asked for, swept or dropped. */
  get tracked(): number {
    return this.#untilMs.size;
  }

  /**
   * The server reported `pressure` for `bucket`; 1 and more is the hard rejection, 0 and less lifts the window. NaN says
   * nothing and changes nothing: no answer of a peer can hold a client for longer than `maxThrottleMs`, or set it free.
   */
  signal(bucket: string, pressure: number, nowMs: number): void {
    if (Number.isNaN(pressure)) return;
    const windowMs = throttleWindowMs(pressure, this.#maxThrottleMs);
    if (windowMs > 0) this.#untilMs.set(bucket, nowMs + windowMs);
    else this.#untilMs.delete(bucket);
  }

  /** How long `bucket` is still to be left alone, ms; 0: not at all, and then nothing of it is kept. */
  remainingMs(bucket: string, nowMs: number): number {
    const untilMs = this.#untilMs.get(bucket);
    if (untilMs === undefined) return 0;
    if (untilMs > nowMs) return untilMs - nowMs;
    this.#untilMs.delete(bucket);
    return 0;
  }

  /** Metadata names the buckets that still exist: windows of all others are dropped. */
  keepOnly(buckets: Iterable<string>): void {
    if (this.#untilMs.size === 0) return;
    const alive = new Set(buckets);
    for (const bucket of this.#untilMs.keys()) {
      if (!alive.has(bucket)) this.#untilMs.delete(bucket);
    }
  }

  /** Drops the windows that are over; returns how many. */
  sweep(nowMs: number): number {
    const before = this.#untilMs.size;
    for (const [bucket, untilMs] of this.#untilMs) {
      if (untilMs <= nowMs) this.#untilMs.delete(bucket);
    }
    return before - this.#untilMs.size;
  }
}

/** Whole milliseconds, cut. Pressure outside of [0, 1] counts as the nearer end. */
export function throttleWindowMs(pressure: number, maxThrottleMs: number): number {
  if (!(pressure > 0)) return 0;
  const most = Math.min(pressure, 1);
  return Math.floor(most * most * maxThrottleMs);
}
