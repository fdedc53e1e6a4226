/** Records that were given between two flushes. */
export interface FlushEpoch {
  open: number;
  readonly waiters: (() => void)[];
}

/** Tells who flushes when everything that had been given before is settled, by a count per flush and none per record. */
export class FlushEpochs {
  #epochs: FlushEpoch[] = [{ open: 0, waiters: [] }];

  /** The epoch that a record of now belongs to; it is counted in. */
  enter(): FlushEpoch {
    const epoch = this.#epochs[this.#epochs.length - 1] as FlushEpoch;
    epoch.open += 1;
    return epoch;
  }

  leave(epoch: FlushEpoch): void {
    epoch.open -= 1;
    if (epoch.open === 0) this.#advance();
  }

  /** Calls `done` when all records of now have left; at once when there is none. */
  whenSettled(done: () => void): void {
    const last = this.#epochs[this.#epochs.length - 1] as FlushEpoch;
    last.waiters.push(done);
    this.#epochs.push({ open: 0, waiters: [] });
    this.#advance();
  }

  #advance(): void {
    while (this.#epochs.length > 1 && this.#epochs[0]?.open === 0) {
      const [epoch] = this.#epochs.splice(0, 1) as [FlushEpoch];
      for (const done of epoch.waiters) done();
    }
  }
}
