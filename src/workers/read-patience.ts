/**
 * How long the tries of one read may still wait at the stages, all together. Candidates that are raced wait at the same time:
 * what counts is the time in which at least one does.
 */
export class ReadPatience {
  readonly #nowNs: () => number;
  #leftNs: number;
  #waiting = 0;
  #sinceNs = 0;

  constructor(maxWaitMs: number, nowNs: () => number) {
    this.#leftNs = maxWaitMs * 1e6;
    this.#nowNs = nowNs;
  }

  leftMs(): number {
    const waitedNs = this.#waiting === 0 ? 0 : this.#nowNs() - this.#sinceNs;
    return Math.max(this.#leftNs - waitedNs, 0) / 1e6;
  }

  /** As `wait` does. */
  async during<T>(wait: Promise<T>): Promise<T> {
    if (this.#waiting === 0) this.#sinceNs = this.#nowNs();
    this.#waiting += 1;
    try {
      return await wait;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#leftNs -= this.#nowNs() - this.#sinceNs;
    }
  }
}
