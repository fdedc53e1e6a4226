/** What is counted per (rpc, table) pair. */
export const countNames = [
  // Calls: of the load; that ended well; that ended otherwise; of these: refused by the gate, and
  // never begun because too many were in flight in their thread.
  'arrived',
  'ok',
  'failed',
  'heldBack',
  'shed',
  // Attempts: that went to the service; answered RESOURCE_EXHAUSTED; not answered in time.
  'sent',
  'busy',
  'unanswered',
] as const;
export type CountName = (typeof countNames)[number];

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
