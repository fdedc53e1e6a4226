/**
 * One point in time that somebody waits for. Timers of whole milliseconds fire up to one early and take at most 2^31 ms;
 * an alarm never rings before its time, whatever that is.
 */
export interface AlarmHost {
  nowNs(): number;
  /** Calls `fire` in `delayMs` (1 to 3,600,000) or a little earlier or later; returns what cancels it. */
  arm(delayMs: number, fire: () => void): () => void;
}

const LONGEST_TIMER_MS = 3_600_000;

export class Alarm {
  readonly #host: AlarmHost;
  readonly #ring: () => void;
  #dueNs = Number.POSITIVE_INFINITY;
  #disarm: (() => void) | undefined;

  constructor(host: AlarmHost, ring: () => void) {
    this.#host = host;
    this.#ring = ring;
  }

  /** Rings once, at `dueNs` or soon after; in place of what it was set to. Infinity: not at all. */
  set(dueNs: number): void {
    this.clear();
    if (dueNs === Number.POSITIVE_INFINITY) return;
    this.#dueNs = dueNs;
    this.#arm();
  }

  clear(): void {
    this.#disarm?.();
    this.#disarm = undefined;
  }

  #arm(): void {
    const leftMs = Math.ceil((this.#dueNs - this.#host.nowNs()) / 1e6);
    this.#disarm = this.#host.arm(Math.min(Math.max(leftMs, 1), LONGEST_TIMER_MS), () => {
      this.#disarm = undefined;
      if (this.#host.nowNs() < this.#dueNs) this.#arm();
      else this.#ring();
    });
  }
}
