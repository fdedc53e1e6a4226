/** Words: the start in ns of the monotonic clock (0: not known), threads that are ready, hot and calm records acknowledged. */
const words = { start: 0, ready: 1, hot: 2, calm: 3 } as const;

/** What all writer threads count, and when they begin. */
export class WriteBoard {
  readonly buffer: SharedArrayBuffer;
  readonly #words: BigInt64Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(8 * Object.keys(words).length)) {
    this.buffer = buffer;
    this.#words = new BigInt64Array(buffer);
  }

  markReady(): void {
    Atomics.add(this.#words, words.ready, 1n);
  }

  get ready(): number {
    return Number(Atomics.load(this.#words, words.ready));
  }

  start(atNs: bigint): void {
    Atomics.store(this.#words, words.start, atNs);
  }

  /** 0n while it is not known yet. */
  get startNs(): bigint {
    return Atomics.load(this.#words, words.start);
  }

  acknowledge(kind: 'hot' | 'calm'): void {
    Atomics.add(this.#words, words[kind], 1n);
  }

  acknowledged(kind: 'hot' | 'calm'): number {
    return Number(Atomics.load(this.#words, words[kind]));
  }
}
