/**
 * An attempt that may take only so long: it has a signal of its own, and is left behind when its time is over. Invariants:
 * - The signal is made when somebody asks for it (an AbortController costs 3 to 5 us), follows the caller's while the
 *   attempt runs, and listens to nothing once it has ended.
 * - What an attempt that was left behind does afterwards changes nothing, and is never an unhandled rejection.
 */
import { Alarm, type AlarmHost } from './alarm.js';
import type { SignalHub } from './signal-hub.js';
import { isThenable } from './thenable.js';

/** What an attempt is given. */
export interface AttemptContext {
  /** Counts from 1. */
  readonly attempt: number;
  /**
   * The caller's own, or, where an attempt time-out or a deadline applies, one that also says when those have come. That
   * one is made when it is first read, and follows the caller's as long as the attempt runs.
   */
  readonly signal: AbortSignal | undefined;
  /**
   * Says that the peer has begun to answer, for answers that take long: the circuit need not wait for the end then. What
   * becomes of the rest counts as of any other call. Undefined: nobody wants to know, the attempt is no probe.
   */
  readonly answered?: (() => void) | undefined;
}

export interface ScopeHost extends AlarmHost {
  readonly signals: SignalHub;
}

/** When an attempt is left behind, and with which error. */
export interface Bound {
  readonly atNs: number;
  exceeded(): unknown;
}

export class AttemptScope implements AttemptContext {
  readonly attempt: number;
  readonly answered: (() => void) | undefined;
  readonly #host: ScopeHost;
  readonly #caller: AbortSignal | undefined;
  readonly #onLate: () => void;
  #alarm: Alarm | undefined;
  #bound: Bound | undefined;
  #controller: AbortController | undefined;
  #unwatch: (() => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  #state: 'running' | 'ended' | 'left' = 'running';
  #reason: unknown;

  /** `onLate` is told when an attempt settles that was left behind. */
  constructor(
    host: ScopeHost,
    attempt: number,
    caller: AbortSignal | undefined,
    onLate: () => void,
    answered?: () => void,
  ) {
    this.#host = host;
    this.attempt = attempt;
    this.answered = answered;
    this.#caller = caller;
    this.#onLate = onLate;
  }

  get signal(): AbortSignal {
    return (this.#controller ?? this.#makeController()).signal;
  }

  /** Whether the attempt was left behind. */
  get left(): boolean {
    return this.#state === 'left';
  }

  /** What the attempt comes to, or `bound.exceeded()` when it takes longer; at once when it does not take time. */
  run<T>(attempt: (context: AttemptContext) => Promise<T> | T, bound: Bound): Promise<T> | T {
    this.#bound = bound;
    let started: Promise<T> | T;
    try {
      started = attempt(this);
      if (!isThenable(started)) {
        this.#end();
        return started;
      }
    } catch (error) {
      this.#end();
      throw error;
    }
    const settling = Promise.resolve(started);
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      if (this.left) reject(this.#reason);
      else this.#arm();
      settling.then(
        (value) => {
          if (this.#end()) resolve(value);
        },
        (error: unknown) => {
          if (this.#end()) reject(error);
        },
      );
    });
  }

  /** Another bound from now on. */
  rebound(bound: Bound): void {
    if (this.#state !== 'running') return;
    this.#bound = bound;
    if (this.#reject !== undefined) this.#arm();
  }

  /** Leaves the attempt behind now: it has become pointless. */
  abandon(reason: unknown): void {
    if (this.#state !== 'running') return;
    this.#state = 'left';
    this.#reason = reason;
    this.#release();
    this.#controller?.abort(reason);
    this.#reject?.(reason);
  }

  #arm(): void {
    this.#alarm ??= new Alarm(this.#host, () => this.abandon(this.#bound?.exceeded()));
    this.#alarm.set(this.#bound?.atNs ?? Number.POSITIVE_INFINITY);
  }

  /** @returns whether it ends here, and was not left behind before. */
  #end(): boolean {
    if (this.#state === 'left') {
      this.#onLate();
      return false;
    }
    this.#state = 'ended';
    this.#release();
    return true;
  }

  #release(): void {
    this.#alarm?.clear();
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  #makeController(): AbortController {
    const controller = new AbortController();
    this.#controller = controller;
    const caller = this.#caller;
    if (this.#state === 'left') controller.abort(this.#reason);
    else if (caller?.aborted === true) controller.abort(caller.reason);
    else if (caller !== undefined && this.#state === 'running') {
      this.#unwatch = this.#host.signals.watch(caller, () => controller.abort(caller.reason));
    }
    return controller;
  }
}
