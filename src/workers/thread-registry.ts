/** Places of attached threads in the arena: claimed by one compare-and-swap, freed by their thread or by the sweep. */
import type { Arena } from '../shared/arena.js';
import type { ArenaAtomics } from '../shared/arena-atomics.js';
import { TooManyThreadsError } from '../shared/errors.js';
import { STATS } from '../shared/kernel/port.js';
import { CALL_STATS, PRESSURE_STATS, THREAD } from '../shared/layout.js';
import { QuiescenceWords } from '../shared/quiescence.js';
import { rpcCount } from '../shared/rpc-names.js';

export interface ClaimedPlace {
  readonly index: number;
  /** Tells this claim of the place from earlier and later ones; odd. */
  readonly claim: number;
}

export class ThreadRegistry {
  readonly #arena: Arena;
  readonly #atomics: ArenaAtomics;
  readonly #quiescence: QuiescenceWords;

  constructor(arena: Arena, atomics: ArenaAtomics = Atomics) {
    const { layout, buffer } = arena;
    this.#arena = arena;
    this.#atomics = atomics;
    const { threads } = layout.capacity;
    this.#quiescence = new QuiescenceWords(buffer, layout.quiescence, threads, atomics);
  }

  get quiescence(): QuiescenceWords {
    return this.#quiescence;
  }

  /** @throws TooManyThreadsError */
  claim(threadId: number): ClaimedPlace {
    const { i32, layout } = this.#arena;
    const { threads } = layout.capacity;
    for (let index = 0; index < threads; index++) {
      const { header } = layout.thread(index);
      const word = (header + THREAD.CLAIM) >>> 2;
      const free = this.#atomics.load(i32, word);
      // Claims the place: whoever owns it writes its words.
      if ((free & 1) === 1 || this.#atomics.compareExchange(i32, word, free, free + 1) !== free)
        continue;
      this.#atomics.store(i32, (header + THREAD.THREAD_ID) >>> 2, threadId + 1);
      this.#atomics.store(i32, (header + THREAD.WATCHED_BY) >>> 2, 0);
      this.#quiescence.pass(index);
      return { index, claim: free + 1 };
    }
    throw new TooManyThreadsError(
      `capacity.threads must be above the ${threads} threads that are attached`,
    );
  }

  /** Claim of a place, even when it is free. */
  claimOf(index: number): number {
    return this.#load(index, THREAD.CLAIM);
  }

  /** Thread id of a place's owner; undefined when it is free, or has not said. */
  ownerOf(index: number): number | undefined {
    const id = this.#load(index, THREAD.THREAD_ID);
    return id === 0 || (this.claimOf(index) & 1) === 0 ? undefined : id - 1;
  }

  /** Which control generation watches the place, 0: none yet. */
  watchedBy(index: number): number {
    return this.#load(index, THREAD.WATCHED_BY);
  }

  watch(index: number, controlGeneration: number): void {
    const { i32, layout } = this.#arena;
    this.#atomics.store(
      i32,
      (layout.thread(index).header + THREAD.WATCHED_BY) >>> 2,
      controlGeneration,
    );
  }

  /** Indexes of the places in use. */
  attached(): number[] {
    const all = Array.from({ length: this.#arena.layout.capacity.threads }, (_, index) => index);
    return all.filter((index) => (this.claimOf(index) & 1) === 1);
  }

  /**
   * The thread `threadId` gives its place up; the control thread frees it when it has drained what the thread sent. Takes
   * no other thread's name away, whoever has the place by now.
   */
  abandon({ index, claim }: ClaimedPlace, threadId: number): void {
    if (this.claimOf(index) !== claim) return;
    const word = (this.#arena.layout.thread(index).header + THREAD.THREAD_ID) >>> 2;
    this.#atomics.compareExchange(this.#arena.i32, word, threadId + 1, 0);
  }

  /**
   * Frees a place whose thread has left or died, unless that has been done. What it held is counted as lost. Each step
   * may be done again: a sweep that is cut short is done by the next one. One thread at a time, the control thread.
   * @returns whether it was freed now.
   */
  free({ index, claim }: ClaimedPlace): boolean {
    if (this.claimOf(index) !== claim) return false;
    const { i32, f64, layout } = this.#arena;
    const place = layout.thread(index);
    for (let rpcId = 0; rpcId < rpcCount(this.#arena); rpcId++) {
      const calls = place.calls(rpcId);
      f64[(calls + CALL_STATS.HOST_WAITING) >>> 3] = 0;
      f64[(calls + CALL_STATS.TABLE_WAITING) >>> 3] = 0;
      for (const stage of ['host', 'table'] as const) {
        const stats = place.stats(rpcId, stage);
        const read = (counter: number): number => f64[(stats + counter) >>> 3] as number;
        f64[(stats + STATS.LOST) >>> 3] =
          read(STATS.RESERVED) - read(STATS.SPENT) - read(STATS.RETURNED);
      }
    }
    f64[(place.pressure + PRESSURE_STATS.WAITING) >>> 3] = 0;
    f64[(place.header + THREAD.ACTIVE) >>> 3] = 0;
    this.#quiescence.leave(index);
    this.#atomics.store(i32, (place.header + THREAD.THREAD_ID) >>> 2, 0);
    return (
      this.#atomics.compareExchange(i32, (place.header + THREAD.CLAIM) >>> 2, claim, claim + 1) ===
      claim
    );
  }

  #load(index: number, word: number): number {
    return this.#atomics.load(
      this.#arena.i32,
      (this.#arena.layout.thread(index).header + word) >>> 2,
    );
  }
}
