/** Gives the directory's keeper its turns: bounded pieces of work, and patience where threads have to pass a point first. */
import type { DirectoryKeeper } from '../shared/directory-keeper.js';

/** First patience with threads that have not passed; it doubles up to the longest, for those whose loop does not turn. */
const WAITING_MS = 20;
const LONGEST_WAITING_MS = 1000;

export class DirectoryUpkeep {
  readonly #keeper: DirectoryKeeper;
  readonly #askThreads: () => void;
  #timer: NodeJS.Timeout | undefined;
  #patienceMs = WAITING_MS;
  #closed = false;

  /** `askThreads`: ask every attached thread to pass a quiescent point. */
  constructor(keeper: DirectoryKeeper, askThreads: () => void) {
    this.#keeper = keeper;
    this.#askThreads = askThreads;
  }

  /** There may be something to do. */
  nudge(): void {
    if (this.#timer === undefined && !this.#closed) this.#timer = setTimeout(() => this.#turn(), 1);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #turn(): void {
    this.#timer = undefined;
    const upkeep = this.#keeper.maintain();
    if (upkeep === 'idle' || this.#closed) return;
    if (upkeep === 'working') {
      this.#patienceMs = WAITING_MS;
      this.#timer = setTimeout(() => this.#turn(), 1);
      return;
    }
    this.#askThreads();
    this.#timer = setTimeout(() => this.#turn(), this.#patienceMs);
    this.#patienceMs = Math.min(this.#patienceMs * 2, LONGEST_WAITING_MS);
  }
}
