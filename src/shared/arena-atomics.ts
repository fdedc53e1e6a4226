/**
 * The atomic operations on arena words, as a port. `Atomics` itself is the implementation; a test puts its own in its
 * place and decides the order in which the steps of several threads take effect. Every access to a word that two threads
 * share goes through it.
 */
export interface ArenaAtomics {
  load(words: Int32Array, index: number): number;
  load(words: BigUint64Array, index: number): bigint;
  store(words: Int32Array, index: number, value: number): number;
  store(words: BigUint64Array, index: number, value: bigint): bigint;
  add(words: Int32Array, index: number, value: number): number;
  add(words: BigUint64Array, index: number, value: bigint): bigint;
  or(words: Int32Array, index: number, value: number): number;
  and(words: Int32Array, index: number, value: number): number;
  exchange(words: Int32Array, index: number, value: number): number;
  exchange(words: BigUint64Array, index: number, value: bigint): bigint;
  compareExchange(words: Int32Array, index: number, expected: number, replacement: number): number;
  compareExchange(
    words: BigUint64Array,
    index: number,
    expected: bigint,
    replacement: bigint,
  ): bigint;
}
