import type { WriterPorts } from './writer-ports.js';

/** One timer for everything that will be due, and one call for everything that is due now. */
export class WriterAlarm {
  readonly #ports: Pick<WriterPorts, 'timer' | 'soon'>;
  readonly #wake: () => void;
  #dueMs = Number.POSITIVE_INFINITY;
  #isIdle = false;
  #isSoon = false;

  constructor(ports: Pick<WriterPorts, 'timer' | 'soon'>, wake: () => void) {
    this.#ports = ports;
    this.#wake = wake;
  }

  /** When it wakes; Infinity: it does not. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /** Wakes after what runs now, once however often it is asked. */
  soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#ports.soon(() => {
      this.#isSoon = false;
      this.#wake();
    });
  }

  /** Wakes at `dueMs` or, which does no harm, before. `isIdle`: not so that it keeps the process alive. */
  set(dueMs: number, nowMs: number, isIdle: boolean): void {
    if (dueMs === Number.POSITIVE_INFINITY) {
      if (this.#dueMs !== dueMs) this.#ports.timer.disarm();
      this.#dueMs = dueMs;
      return;
    }
    if (this.#dueMs <= dueMs && this.#isIdle === isIdle) return;
    this.#dueMs = dueMs;
    this.#isIdle = isIdle;
    const wake = (): void => {
      this.#dueMs = Number.POSITIVE_INFINITY;
      this.#wake();
    };
    this.#ports.timer.arm(Math.max(0, dueMs - nowMs), wake, isIdle);
  }
}
