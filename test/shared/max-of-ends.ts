/**
 * The largest of many sums that grow together: `add(i, n)` adds to the sums from `i` on, `open(i, base)` makes that sum one
 * of those looked at. Logarithmic, so that a history of any length can be judged.
 */
export class MaxOfEnds {
  readonly #size: number;
  /** Of a node's open leaves, what was added to the node included; -Infinity: there is none. */
  readonly #max: Float64Array;
  /** What was added to all leaves of a node at once. */
  readonly #added: Float64Array;

  constructor(count: number) {
    this.#size = 2 ** Math.ceil(Math.log2(Math.max(count, 1)));
    this.#max = new Float64Array(2 * this.#size).fill(Number.NEGATIVE_INFINITY);
    this.#added = new Float64Array(2 * this.#size);
  }

  /** -Infinity when none is open. */
  get max(): number {
    return this.#at(1);
  }

  /** Which one the largest is. */
  argMax(): number {
    let node = 1;
    while (node < this.#size) {
      node *= 2;
      if (this.#at(node + 1) > this.#at(node)) node += 1;
    }
    return node - this.#size;
  }

  add(from: number, n: number): void {
    // From the leaf upwards: it, and whatever lies to the right of the way.
    let node = this.#size + from;
    this.#raise(node, n);
    for (; node > 1; node >>= 1) {
      if (node % 2 === 0) this.#raise(node + 1, n);
      this.#settle(node >> 1);
    }
  }

  open(index: number, base: number): void {
    let node = this.#size + index;
    this.#max[node] = base + (this.#added[node] as number);
    for (node >>= 1; node >= 1; node >>= 1) this.#settle(node);
  }

  #raise(node: number, n: number): void {
    this.#max[node] = this.#at(node) + n;
    this.#added[node] = (this.#added[node] as number) + n;
  }

  #settle(node: number): void {
    const larger = Math.max(this.#at(2 * node), this.#at(2 * node + 1));
    this.#max[node] = larger + (this.#added[node] as number);
  }

  #at(node: number): number {
    return this.#max[node] as number;
  }
}
