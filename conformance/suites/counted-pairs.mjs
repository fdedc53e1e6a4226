/**
 * @typedef {import('../../src/actors/throttle/ports.js').PairSource} PairSource
 * @typedef {{ readonly rpc: string, readonly table: string, generation: number, count: number }} Pair
 */

const CAPACITY = 4096;

/** Counters of pairs in memory: what the arena's directory is in a runtime. */
export class CountedPairs {
  /** By cell; undefined: free. @type {(Pair | undefined)[]} */
  #cells = [];
  /** @type {string[]} */
  #rpcs = [];
  #generation = 1;

  /** @param {string} rpc @param {string} table @param {number} n */
  add(rpc, table, n) {
    let pair = this.#cells.find((one) => one?.rpc === rpc && one.table === table);
    if (pair === undefined) {
      pair = { rpc, table, generation: this.#generation, count: 0 };
      this.#generation += 2;
      const free = this.#cells.indexOf(undefined);
      if (free === -1) this.#cells.push(pair);
      else this.#cells[free] = pair;
      if (this.#cells.length > CAPACITY) throw new RangeError('too many pairs for this runner');
    }
    pair.count += n;
  }

  /** @type {PairSource} */
  source = {
    capacity: CAPACITY,
    visit: (visitor) => {
      for (const [cell, pair] of this.#cells.entries()) {
        if (pair === undefined) continue;
        visitor(cell, pair.generation, this.#rpcIdOf(pair.rpc), pair.count);
      }
    },
    describe: (cell) => /** @type {Pair} */ (this.#cells[cell]),
    locate: (rpc, table) => {
      const cell = this.#cells.findIndex((one) => one?.rpc === rpc && one.table === table);
      const pair = this.#cells[cell];
      return pair === undefined ? undefined : { cell, generation: pair.generation };
    },
    rpcId: (rpc) => this.#rpcIdOf(rpc),
    drop: (cell, generation) => {
      if (this.#cells[cell]?.generation !== generation) return false;
      this.#cells[cell] = undefined;
      return true;
    },
  };

  /** @param {string} rpc */
  #rpcIdOf(rpc) {
    const known = this.#rpcs.indexOf(rpc);
    return known === -1 ? this.#rpcs.push(rpc) - 1 : known;
  }
}
