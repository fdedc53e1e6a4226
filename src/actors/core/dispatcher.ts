import { Deque } from './deque.js';

/** Something with work waiting. */
export interface Runnable {
  /** Whether it is in the queue; owned by the dispatcher. */
  queued: boolean;
  hasWork(): boolean;
  /** Does one piece of work. Must not throw. */
  step(): void;
}

export interface DispatcherOptions {
  /** Port: runs the given function soon, or at once. */
  readonly schedule: (run: () => void) => void;
  /** Pieces of work that one runnable does before the next has its turn. */
  readonly batch: number;
  /** Pieces of work of one scheduled run, after which the port is asked for another. */
  readonly runBudget: number;
  /** Called when nothing is left to do. */
  readonly onIdle: () => void;
  /** Called before each batch. */
  readonly onBatch: () => void;
}

/**
 * Round robin over runnables that have work: whoever had a batch goes to the end of the queue, so nobody starves however
 * much is sent to one of them, and a run ends after its budget, so the thread's own event loop does not starve either.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #queue = new Deque<Runnable>();
  #running = false;
  /** The port has been asked and has not run yet. */
  #requested = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return !this.#running && this.#queue.length === 0;
  }

  enqueue(runnable: Runnable): void {
    if (runnable.queued) return;
    runnable.queued = true;
    this.#queue.push(runnable);
    if (!this.#running) this.#request();
  }

  #request(): void {
    if (this.#requested) return;
    this.#requested = true;
    this.#options.schedule(this.#run);
  }

  readonly #run = (): void => {
    this.#requested = false;
    // A port that runs at once calls back from within #request below; the loop then goes on instead of nesting.
    if (this.#running) return;
    this.#running = true;
    do {
      this.#spendBudget();
      if (this.#queue.length > 0) this.#request();
    } while (!this.#requested && this.#queue.length > 0);
    this.#running = false;
    if (this.#queue.length === 0) this.#options.onIdle();
  };

  #spendBudget(): void {
    let budget = this.#options.runBudget;
    while (budget > 0 && this.#queue.length > 0) {
      this.#options.onBatch();
      const runnable = this.#queue.shift();
      for (let i = Math.min(this.#options.batch, budget); i > 0 && runnable.hasWork(); i -= 1) {
        runnable.step();
        budget -= 1;
      }
      budget -= 1;
      if (runnable.hasWork()) this.#queue.push(runnable);
      else runnable.queued = false;
    }
  }
}
