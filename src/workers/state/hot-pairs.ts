/**
 * Which pairs are asked for most: the growth of every pair's count between two looks. Looks happen when somebody asks for the
 * state, and cost nobody else anything; without two looks in a row nothing is known. Owner thread only.
 */
import { Hottest } from '../../actors/throttle/hottest.js';
import type { PairKey, PairRate } from '../../actors/throttle/limit-action.js';

/** The pairs of a directory. */
export interface PairCounts {
  /** Places are from 0 to it. */
  readonly capacity: number;
  /** Every live pair: `index` is its place, which is another's once `generation`, which is odd, has changed. */
  visit(seen: (index: number, generation: number, count: number) => void): void;
  /** undefined: it is gone by now. */
  name(index: number, generation: number): PairKey | undefined;
}

/** Pairs that are told. */
export const MAX_HOT_PAIRS = 20;
/** Several may ask at once: what is younger is told again, not measured over a moment. */
const SHORTEST_MS = 500;
/** A rate over a longer time says nothing of now. */
const LONGEST_MS = 10_000;

export class HotPairs {
  readonly #pairs: PairCounts;
  /** By place, from the first look on: what was counted at the last one, and for which generation. */
  #counts = new Float64Array(0);
  #generations = new Int32Array(0);
  #lookedMs = Number.NEGATIVE_INFINITY;
  #told: readonly PairRate[] = [];

  constructor(pairs: PairCounts) {
    this.#pairs = pairs;
  }

  /** The fastest first, at most {@link MAX_HOT_PAIRS}. `nowMs` never goes back. */
  look(nowMs: number): readonly PairRate[] {
    const spanMs = nowMs - this.#lookedMs;
    if (spanMs < SHORTEST_MS) return this.#told;
    if (this.#counts.length === 0) {
      this.#counts = new Float64Array(this.#pairs.capacity);
      this.#generations = new Int32Array(this.#pairs.capacity);
    }
    const [counts, generations] = [this.#counts, this.#generations];
    const hottest = new Hottest(spanMs <= LONGEST_MS ? MAX_HOT_PAIRS : 0);
    this.#pairs.visit((index, generation, count) => {
      // A place that is new, or another's, began at 0.
      const from = generations[index] === generation ? (counts[index] as number) : 0;
      hottest.offer(index, count - from);
      counts[index] = count;
      generations[index] = generation;
    });
    this.#lookedMs = nowMs;
    this.#told = hottest.ranked().flatMap(({ id, rate }) => {
      const key = this.#pairs.name(id, generations[id] as number);
      return key === undefined ? [] : [{ ...key, qps: (rate * 1000) / spanMs }];
    });
    return this.#told;
  }
}
