import type { PendingRecord } from './pending-record.js';

/** Records in the order of their puts. One that is settled while it stands here is skipped, and soon forgotten. */
export class RecordLine {
  #records: PendingRecord[] = [];
  #head = 0;
  #live = 0;
  #bytes = 0;

  /** Records that are not settled. */
  get live(): number {
    return this.#live;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  push(record: PendingRecord): void {
    this.#records.push(record);
    this.#live += 1;
    this.#bytes += record.bytes;
  }

  first(): PendingRecord | undefined {
    const records = this.#records;
    while (this.#head < records.length) {
      const record = records[this.#head] as PendingRecord;
      if (!record.isSettled) return record;
      this.#head += 1;
    }
    this.#trim();
    return undefined;
  }

  /** Takes the first one away. */
  shift(): PendingRecord | undefined {
    const record = this.first();
    if (record === undefined) return undefined;
    this.#head += 1;
    this.#live -= 1;
    this.#bytes -= record.bytes;
    this.#trim();
    return record;
  }

  /** The record, which stands here, has just been settled. */
  forget(record: PendingRecord): void {
    this.#live -= 1;
    this.#bytes -= record.bytes;
    const kept = this.#records.length - this.#head;
    if (kept < 64 || kept < this.#live * 2) return;
    this.#records = this.#records.filter((one, i) => i >= this.#head && !one.isSettled);
    this.#head = 0;
  }

  #trim(): void {
    if (this.#head === this.#records.length) {
      this.#records = [];
      this.#head = 0;
    } else if (this.#head >= 4096 && this.#head * 2 >= this.#records.length) {
      this.#records = this.#records.slice(this.#head);
      this.#head = 0;
    }
  }
}
