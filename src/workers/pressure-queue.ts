/**
 * Who waits in this thread for the end of one bucket's pressure window. Nothing is taken by waiting, so all go at once when
 * the window is over or lifted: the stages behind it space them. Invariants:
 * - One timer, armed for the end of the window as it was read last. Whoever shortens the window pumps; one that has become
 *   longer is read when the timer rings.
 * - Nobody waits longer than the patience that it came with: who could not see the end is refused as soon as that is known.
 */
import type { RateLimitExceededError } from '../shared/errors.js';
import { Alarm } from './alarm.js';
import { DeadlineHeap } from './deadline-heap.js';
import type { QueueHost } from './queued-limiter.js';

/** The window that is waited for, and its accounts. */
export interface QueuedWindow {
  /** When it ends, ns; undefined: it is over. */
  endNs(): number | undefined;
  /** Somebody waits from here on: who shortens the window must say so. */
  watch(): void;
  /** So many more wait. */
  waits(change: number): void;
  /** The error for a wait that is too long, or a queue that is full. */
  refusal(retryAfterMs: number, reason: 'wait' | 'full'): RateLimitExceededError;
}

interface Waiter {
  readonly sinceNs: number;
  readonly deadlineNs: number;
  readonly resolve: (waitedNs: number) => void;
  readonly reject: (reason: unknown) => void;
  unwatch: (() => void) | undefined;
  done: boolean;
}

export class PressureQueue {
  readonly #window: QueuedWindow;
  readonly #host: QueueHost;
  readonly #waiters = new Set<Waiter>();
  readonly #deadlines = new DeadlineHeap<Waiter>();
  readonly #alarm: Alarm;
  #armedForNs = Number.POSITIVE_INFINITY;

  constructor(window: QueuedWindow, host: QueueHost) {
    this.#window = window;
    this.#host = host;
    this.#alarm = new Alarm(host, () => {
      this.#armedForNs = Number.POSITIVE_INFINITY;
      this.pump();
    });
  }

  /** Waiters now. */
  get size(): number {
    return this.#waiters.size;
  }

  /**
   * Waits for a window that was open just now, at most `maxWaitMs`. Resolves to how long it has waited, ns; throws or
   * rejects with the refusal, or with the signal's reason.
   */
  enter(endNs: number, maxWaitMs: number, signal: AbortSignal | undefined): Promise<number> {
    signal?.throwIfAborted();
    const now = this.#host.nowNs();
    const deadlineNs = now + maxWaitMs * 1e6;
    const leftMs = Math.max(endNs - now, 0) / 1e6;
    if (endNs > deadlineNs) throw this.#window.refusal(leftMs, 'wait');
    if (this.#waiters.size >= this.#host.maxWaiters()) throw this.#window.refusal(leftMs, 'full');
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        sinceNs: now,
        deadlineNs,
        resolve,
        reject,
        unwatch: undefined,
        done: false,
      };
      if (signal !== undefined) {
        waiter.unwatch = this.#host.signals.watch(signal, () => {
          this.#drop(waiter, signal.reason);
          if (this.#waiters.size === 0) this.#arm(Number.POSITIVE_INFINITY);
        });
      }
      this.#waiters.add(waiter);
      this.#deadlines.push(waiter);
      this.#window.waits(1);
      this.pump();
    });
  }

  /** Reads the window: lets all go when it is over, refuses who has not the patience for it, and arms the timer. */
  pump(): void {
    if (this.#waiters.size === 0) return;
    this.#window.watch();
    const endNs = this.#window.endNs();
    if (endNs === undefined) {
      this.releaseAll();
      return;
    }
    const now = this.#host.nowNs();
    for (
      let least = this.#deadlines.peek();
      least !== undefined && least.deadlineNs < endNs;
      least = this.#deadlines.peek()
    ) {
      this.#drop(least, this.#window.refusal(Math.max(endNs - now, 0) / 1e6, 'wait'));
    }
    this.#arm(this.#waiters.size === 0 ? Number.POSITIVE_INFINITY : endNs);
  }

  releaseAll(): void {
    const now = this.#host.nowNs();
    for (const waiter of this.#waiters) {
      this.#unlink(waiter);
      waiter.resolve(now - waiter.sinceNs);
    }
    this.#arm(Number.POSITIVE_INFINITY);
  }

  rejectAll(reason: unknown): void {
    for (const waiter of this.#waiters) this.#drop(waiter, reason);
    this.#arm(Number.POSITIVE_INFINITY);
  }

  #drop(waiter: Waiter, reason: unknown): void {
    if (waiter.done) return;
    this.#unlink(waiter);
    waiter.reject(reason);
  }

  #unlink(waiter: Waiter): void {
    waiter.done = true;
    waiter.unwatch?.();
    this.#waiters.delete(waiter);
    this.#deadlines.withdrawn();
    this.#window.waits(-1);
  }

  #arm(endNs: number): void {
    if (endNs === this.#armedForNs) return;
    this.#armedForNs = endNs;
    this.#alarm.set(endNs);
  }
}
