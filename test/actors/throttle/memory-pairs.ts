import type { PairSource } from '../../../src/actors/throttle/ports.js';

interface Pair {
  readonly rpc: string;
  readonly table: string;
  readonly generation: number;
  count: number;
  /** Has a limit or waiters: must stay. */
  pinned: boolean;
}

/** Pairs and their counters in memory. Cells are reused, with another generation. */
export class MemoryPairs implements PairSource {
  readonly capacity: number;
  readonly dropped: string[] = [];
  readonly #cells: (Pair | undefined)[] = [];
  readonly #rpcs: string[];
  #generation = 1;
  visits = 0;

  constructor(rpcs: readonly string[] = ['a', 'b'], capacity = 64) {
    this.#rpcs = [...rpcs];
    this.capacity = capacity;
  }

  add(rpc: string, table: string, n: number): void {
    this.#pair(rpc, table).count += n;
  }

  pin(rpc: string, table: string, pinned: boolean): void {
    this.#pair(rpc, table).pinned = pinned;
  }

  visit(visitor: Parameters<PairSource['visit']>[0]): void {
    this.visits += 1;
    for (const [cell, pair] of this.#cells.entries()) {
      if (pair === undefined) continue;
      visitor(cell, pair.generation, this.#rpcs.indexOf(pair.rpc), pair.count);
    }
  }

  describe(cell: number): { rpc: string; table: string } {
    const { rpc, table } = this.#cells[cell] as Pair;
    return { rpc, table };
  }

  locate(rpc: string, table: string): { cell: number; generation: number } | undefined {
    const cell = this.#cells.findIndex((pair) => pair?.rpc === rpc && pair.table === table);
    const pair = this.#cells[cell];
    return pair && { cell, generation: pair.generation };
  }

  rpcId(rpc: string): number | undefined {
    const id = this.#rpcs.indexOf(rpc);
    return id === -1 ? undefined : id;
  }

  drop(cell: number, generation: number): boolean {
    const pair = this.#cells[cell];
    if (pair === undefined || pair.generation !== generation || pair.pinned) return false;
    this.#cells[cell] = undefined;
    this.dropped.push(`${pair.rpc}/${pair.table}`);
    return true;
  }

  #pair(rpc: string, table: string): Pair {
    const known = this.#cells.find((pair) => pair?.rpc === rpc && pair.table === table);
    if (known !== undefined) return known;
    const pair = { rpc, table, generation: this.#generation, count: 0, pinned: false };
    this.#generation += 2;
    const free = this.#cells.indexOf(undefined);
    if (free === -1) this.#cells.push(pair);
    else this.#cells[free] = pair;
    return pair;
  }
}
