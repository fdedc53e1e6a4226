import type { Dispatcher } from 'undici';

type Controller = Dispatcher.DispatchController;

/**
 * What the sender of a request holds in its hands, from before it goes out until it has ended, whatever attempt it is at.
 * Pausing and resuming goes to the attempt under way; an abort goes to whoever knows how far the request is.
 */
export class RelayController implements Controller {
  readonly #onAbort: (reason: Error | undefined) => void;
  #target: Controller | undefined;
  #paused = false;
  #aborted = false;
  #reason: Error | null = null;

  constructor(onAbort: (reason: Error | undefined) => void) {
    this.#onAbort = onAbort;
  }

  /** The controller of the attempt under way; undefined: of none that the sender may pause. */
  aimAt(target: Controller | undefined): void {
    this.#target = target;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get paused(): boolean {
    return this.#paused;
  }

  get reason(): Error | null {
    return this.#reason;
  }

  get rawHeaders(): NonNullable<Controller['rawHeaders']> | null {
    return this.#target?.rawHeaders ?? null;
  }

  get rawTrailers(): NonNullable<Controller['rawTrailers']> | null {
    return this.#target?.rawTrailers ?? null;
  }

  /** Streams of undici give no reason. */
  abort(reason?: Error): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason ?? null;
    this.#onAbort(reason);
  }

  pause(): void {
    this.#paused = true;
    this.#target?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#target?.resume();
  }
}
