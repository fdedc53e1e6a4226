import type { Finding } from './finding.js';

/**
 * The puts into one bucket, numbered from 1 in the order in which they were given. Number n goes to key n mod `keys`. A
 * bucket whose order is kept has, whenever it is looked at, exactly the first m of them: each key has its newest put of
 * these, and none of a later one.
 */
export class PutSequence {
  readonly keys: number;
  #sent = 0;
  /** All up to here are acknowledged, and what was acknowledged beyond. */
  #acknowledged = 0;
  #beyond = new Set<number>();

  constructor(keys: number) {
    this.keys = keys;
  }

  get sent(): number {
    return this.#sent;
  }

  /** Puts that are acknowledged without a gap. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Number of the next put. */
  send(): number {
    this.#sent += 1;
    return this.#sent;
  }

  acknowledge(number: number): void {
    this.#beyond.add(number);
    while (this.#beyond.delete(this.#acknowledged + 1)) this.#acknowledged += 1;
  }

  keyOf(number: number): number {
    return number % this.keys;
  }

  /** `found`: the number that each key holds; 0: the key is not there. */
  check(found: readonly number[]): Finding {
    const newest = found.reduce((most, number) => Math.max(most, number), 0);
    const finding = { lost: 0, reordered: 0, unknown: 0 };
    if (newest > this.#sent) return { ...finding, unknown: newest - this.#sent };
    // Acknowledged later than all that is there: lost, all of them.
    finding.lost += Math.max(0, this.#acknowledged - newest);
    for (let key = 0; key < this.keys; key += 1) {
      const expected = this.#newestOf(key, newest);
      const number = found[key] ?? 0;
      if (number === expected) continue;
      if (number < this.#newestOf(key, Math.min(newest, this.#acknowledged))) finding.lost += 1;
      else finding.reordered += 1;
    }
    for (const number of this.#beyond) {
      if (number > newest) finding.lost += 1;
    }
    return finding;
  }

  /** The newest put of a key among the first `upTo`; 0: there is none. */
  #newestOf(key: number, upTo: number): number {
    const back = (upTo - key + this.keys) % this.keys;
    return Math.max(0, upTo - back);
  }
}
