/**
 * The one word that says that the consumer of the message rings sleeps, so that a batch of messages costs one wake-up.
 *
 * Producer: publishes its message, then `ring()`; true: it must wake the consumer, and nobody else will.
 * Consumer: finds every ring empty, `arm()`s, looks at every ring once more, and sleeps only if they are still empty;
 * else it `disarm()`s and drains. Either the producer sees the armed bell or the consumer sees the message.
 *
 * A thread that dies between `ring()` and the wake-up leaves the consumer asleep with messages waiting, so the consumer
 * must also drain when it learns of a death, or at a slow tick.
 */
import type { ArenaAtomics } from './arena-atomics.js';

export class Doorbell {
  readonly #atomics: ArenaAtomics;
  readonly #words: Int32Array;

  /** `word`: byte offset of an i32, 1 while armed. */
  constructor(buffer: SharedArrayBuffer, word: number, atomics: ArenaAtomics = Atomics) {
    this.#atomics = atomics;
    this.#words = new Int32Array(buffer, word, 1);
  }

  /** Producer. @returns whether the caller must wake the consumer. */
  ring(): boolean {
    if (this.#atomics.load(this.#words, 0) === 0) return false;
    // Claims the wake-up: of all who see the armed bell one sends it.
    return this.#atomics.compareExchange(this.#words, 0, 1, 0) === 1;
  }

  /** Consumer: about to sleep. */
  arm(): void {
    this.#atomics.store(this.#words, 0, 1);
  }

  /** Consumer: awake. */
  disarm(): void {
    this.#atomics.store(this.#words, 0, 0);
  }
}
