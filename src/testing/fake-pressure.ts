import { RateLimitExceededError } from '../shared/errors.js';
import { ThrottleWindows } from '../shared/pressure/throttle-windows.js';

/** What a fake's windows need of its gate. */
export interface FakePressureHost {
  nowMs(): number;
  /** Whether waits take place; else they are only reported. */
  readonly waits: boolean;
  /** Ends after `waitMs`, or when one of `wakers` is called. Rejects with the signal's reason, or when the gate is left. */
  pause(waitMs: number, signal: AbortSignal | undefined, wakers: Set<() => void>): Promise<void>;
  requireOpen(): void;
}

const MAX_THROTTLE_MS = 3000;

/** The pressure windows of a fake gate: as the real ones, with the default of `pressure.maxThrottleMs`. */
export class FakePressures {
  readonly #host: FakePressureHost;
  readonly #windows = new ThrottleWindows(MAX_THROTTLE_MS);
  readonly #wakers = new Map<string, Set<() => void>>();

  constructor(host: FakePressureHost) {
    this.#host = host;
  }

  report(bucket: string, pressure: number): void {
    this.#windows.signal(bucket, pressure, this.#host.nowMs());
    for (const wake of [...(this.#wakers.get(bucket) ?? [])]) wake();
  }

  remainingMs(bucket: string): number {
    return this.#windows.remainingMs(bucket, this.#host.nowMs());
  }

  /** @returns how long it took, ms. */
  async wait(bucket: string, maxWaitMs: number, signal: AbortSignal | undefined): Promise<number> {
    const sinceMs = this.#host.nowMs();
    for (;;) {
      const leftMs = this.remainingMs(bucket);
      const waitedMs = this.#host.nowMs() - sinceMs;
      if (leftMs === 0) return waitedMs;
      if (waitedMs + leftMs > maxWaitMs)
        throw new RateLimitExceededError(
          `pressure of bucket ${bucket}: the wait would be ${leftMs} ms`,
          {
            retryAfterMs: leftMs,
            stage: 'pressure',
            bucket,
          },
        );
      if (!this.#host.waits) return leftMs;
      const wakers = this.#wakers.get(bucket) ?? new Set();
      this.#wakers.set(bucket, wakers);
      await this.#host.pause(leftMs, signal, wakers);
    }
  }

  window(bucket: string, maxWaitMs: number): FakeBucketPressure {
    return new FakeBucketPressure(this, bucket, maxWaitMs, () => this.#host.requireOpen());
  }
}

/** See `gate.pressure`. */
export class FakeBucketPressure {
  readonly bucket: string;
  readonly #windows: FakePressures;
  readonly #maxWaitMs: number;
  readonly #requireOpen: () => void;

  /** @internal */
  constructor(windows: FakePressures, bucket: string, maxWaitMs: number, requireOpen: () => void) {
    if (typeof bucket !== 'string' || bucket === '')
      throw new TypeError(`bucket must be a string that names a bucket, got ${String(bucket)}`);
    requireOpen();
    this.bucket = bucket;
    this.#windows = windows;
    this.#maxWaitMs = maxWaitMs;
    this.#requireOpen = requireOpen;
  }

  report(pressure: number): void {
    this.#requireOpen();
    this.#windows.report(this.bucket, pressure);
  }

  remainingMs(): number {
    this.#requireOpen();
    return this.#windows.remainingMs(this.bucket);
  }

  async wait({
    maxWaitMs = this.#maxWaitMs,
    signal,
  }: {
    readonly maxWaitMs?: number;
    readonly signal?: AbortSignal;
  } = {}): Promise<{
    readonly waitedMs: number;
  }> {
    this.#requireOpen();
    signal?.throwIfAborted();
    return { waitedMs: await this.#windows.wait(this.bucket, maxWaitMs, signal) };
  }
}
