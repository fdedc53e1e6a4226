/**
 * Sums of what the threads count, each in its own place. A place outlives its threads and is gone on with by the next one,
 * so that no sum goes down when a thread dies. Places that no thread has had yet are not looked at: most of them.
 */
import type { Arena } from '../shared/arena.js';
import { STATS } from '../shared/kernel/port.js';
import { CALL_STATS, PEER_STATS, THREAD, type ThreadLayout } from '../shared/layout.js';

export type LimiterSums = Record<keyof typeof STATS, number>;

const LIMITER_COUNTERS = Object.keys(STATS) as readonly (keyof typeof STATS)[];
const NONE: Readonly<LimiterSums> = {
  DIRECT: 0,
  RESERVED: 0,
  SPENT: 0,
  RETURNED: 0,
  LOST: 0,
  REFUSED: 0,
  CALLS: 0,
  BUSY: 0,
};

export class ThreadSums {
  readonly #arena: Arena;
  /** Never had by any thread, so far. */
  #unused: readonly ThreadLayout[];
  #used: readonly ThreadLayout[] = [];

  constructor(arena: Arena) {
    this.#arena = arena;
    const { threads } = arena.layout.capacity;
    this.#unused = Array.from({ length: threads }, (_, index) => arena.layout.thread(index));
  }

  /** Takes in the places that threads have had since; sums are over those known. */
  look(): void {
    const { i32 } = this.#arena;
    const isUsed = ({ header }: ThreadLayout): boolean =>
      Atomics.load(i32, (header + THREAD.CLAIM) >>> 2) !== 0;
    const added = this.#unused.filter(isUsed);
    if (added.length === 0) return;
    this.#used = [...this.#used, ...added];
    this.#unused = this.#unused.filter((place) => !added.includes(place));
  }

  /** Of the limiters of an RPC type: the host-level one, those of its tables, or both. */
  limiter(rpcId: number, ...stages: readonly ('host' | 'table')[]): LimiterSums {
    const sums = { ...NONE };
    for (const place of this.#used) {
      for (const stage of stages) {
        const stats = place.stats(rpcId, stage);
        for (const counter of LIMITER_COUNTERS) sums[counter] += this.#read(stats + STATS[counter]);
      }
    }
    return sums;
  }

  calls(rpcId: number, event: keyof typeof CALL_STATS): number {
    return this.#sum((place) => place.calls(rpcId) + CALL_STATS[event]);
  }

  peers(event: keyof typeof PEER_STATS): number {
    return this.#sum(({ peers }) => peers + PEER_STATS[event]);
  }

  /** Waits and attempts under way. */
  active(): number {
    return this.#sum(({ header }) => header + THREAD.ACTIVE);
  }

  #sum(offset: (place: ThreadLayout) => number): number {
    return this.#used.reduce((sum, place) => sum + this.#read(offset(place)), 0);
  }

  #read(offset: number): number {
    return this.#arena.f64[offset >>> 3] as number;
  }
}
