const readyIndex = 0;
/** Word 1: 0 until the start is set, then the start in ns of the process's monotonic clock. */
const startIndex = 1;

/** Lets all threads begin at one moment of the monotonic clock that they share. */
export class StartSignal {
  readonly buffer: SharedArrayBuffer;
  readonly #words: BigInt64Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(16)) {
    this.buffer = buffer;
    this.#words = new BigInt64Array(buffer);
  }

  markReady(): void {
    Atomics.add(this.#words, readyIndex, 1n);
  }

  get readyCount(): number {
    return Number(Atomics.load(this.#words, readyIndex));
  }

  start(atNs: bigint): void {
    Atomics.store(this.#words, startIndex, atNs);
  }

  /** In ns; 0n while it is not known yet. */
  get startNs(): bigint {
    return Atomics.load(this.#words, startIndex);
  }
}
