/** The atomic operations that the twin uses, so that a test can put its own in their place and explore interleavings. */
export interface AtomicWords {
  load(words: BigUint64Array, index: number): bigint;
  add(words: BigUint64Array, index: number, value: bigint): bigint;
  compareExchange(
    words: BigUint64Array,
    index: number,
    expected: bigint,
    replacement: bigint,
  ): bigint;
}
