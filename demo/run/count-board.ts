/** What is counted per (rpc, table) pair. */
export const countNames = ['arrived', 'sent', 'busy', 'ok', 'failed', 'heldBack', 'shed'] as const;
export type CountName = (typeof countNames)[number];

// arrived   calls of the load                     sent     attempts that went to the service
// busy      attempts answered RESOURCE_EXHAUSTED  ok       calls answered well in the end
// failed    calls that ended otherwise            heldBack of them: refused by the gate
// shed      of them: never begun, too many calls in flight in their thread

/** Counts of all threads in shared memory; threads add, the main thread reads while they do. */
export class CountBoard {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #rpcCount: number;

  static create(tableCount: number, rpcCount: number): CountBoard {
    const words = tableCount * rpcCount * countNames.length;
    return new CountBoard(new SharedArrayBuffer(words * 4), rpcCount);
  }

  constructor(buffer: SharedArrayBuffer, rpcCount: number) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
    this.#rpcCount = rpcCount;
  }

  add(name: CountName, tableIndex: number, rpcIndex: number): void {
    Atomics.add(this.#words, this.#index(name, tableIndex, rpcIndex), 1);
  }

  /** Over the RPC types of one table. */
  ofTable(name: CountName, tableIndex: number): number {
    let sum = 0;
    for (let rpcIndex = 0; rpcIndex < this.#rpcCount; rpcIndex += 1) {
      sum += Atomics.load(this.#words, this.#index(name, tableIndex, rpcIndex));
    }
    return sum;
  }

  /** Over the tables from `fromTable` up to and without `toTable`. */
  ofTables(name: CountName, fromTable: number, toTable: number): number {
    let sum = 0;
    for (let table = fromTable; table < toTable; table += 1) sum += this.ofTable(name, table);
    return sum;
  }

  #index(name: CountName, tableIndex: number, rpcIndex: number): number {
    return (tableIndex * this.#rpcCount + rpcIndex) * countNames.length + countNames.indexOf(name);
  }
}
