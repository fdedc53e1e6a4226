import { type FlushEpoch, FlushEpochs } from './flush-epochs.js';
import type { PendingRecord, PutResult } from './pending-record.js';

/** Counts the puts of a writer, and settles each of them once. */
export class RecordLedger {
  readonly #epochs = new FlushEpochs();
  given = 0;
  acknowledged = 0;
  failed = 0;

  /** Records whose promise is open. */
  get open(): number {
    return this.given - this.acknowledged - this.failed;
  }

  /** A record is given; its number is `given` after this. */
  enter(): FlushEpoch {
    this.given += 1;
    return this.#epochs.enter();
  }

  succeed(record: PendingRecord, result: PutResult): void {
    if (record.isSettled) return;
    record.isSettled = true;
    this.acknowledged += 1;
    record.unwatch?.();
    record.resolve(result);
    this.#epochs.leave(record.epoch);
  }

  fail(record: PendingRecord, reason: unknown): void {
    if (record.isSettled) return;
    record.isSettled = true;
    this.failed += 1;
    record.unwatch?.();
    record.home.leave(record);
    record.reject(reason);
    this.#epochs.leave(record.epoch);
  }

  /** Calls `done` when everything that was given until now is settled. */
  whenSettled(done: () => void): void {
    this.#epochs.whenSettled(done);
  }
}
