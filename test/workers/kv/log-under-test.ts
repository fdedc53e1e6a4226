import type { LogBatch } from '../../../src/actors/kv/log-port.js';
import { packGroup, unpackBatch } from '../../../src/workers/kv/log/log-group.js';
import { type LogCut, LogStore } from '../../../src/workers/kv/log/log-store.js';
import { MemoryFiles } from './memory-files.js';

export const batch = (tablet: string, firstLsn: number, ...values: string[]): LogBatch => ({
  tablet,
  firstLsn,
  records: values.map((value) => ({
    key: Buffer.from(`key of ${value}`),
    value: Buffer.from(value),
  })),
});

/** A log on files in memory. */
export class LogUnderTest {
  readonly files: MemoryFiles;
  readonly segmentBytes: number;
  cuts: LogCut[] = [];
  /** What was found when it was opened last: tablet, first lsn and values of each batch. */
  found: string[] = [];
  #store: LogStore | undefined;

  constructor(segmentBytes = 1 << 20, files: MemoryFiles = new MemoryFiles()) {
    this.segmentBytes = segmentBytes;
    this.files = files;
    this.open();
  }

  get store(): LogStore {
    if (this.#store === undefined) throw new Error('not open');
    return this.#store;
  }

  open(): void {
    this.found = [];
    this.cuts = [];
    this.#store = undefined;
    this.#store = new LogStore({
      dir: '/log',
      files: this.files,
      segmentBytes: this.segmentBytes,
      onCut: (cut) => this.cuts.push(cut),
      onSegment: (batches) => {
        for (const packed of batches) {
          const { tablet, firstLsn, records } = unpackBatch(packed);
          this.found.push(
            `${tablet}@${firstLsn}:${records.map(({ value }) => String(value)).join()}`,
          );
        }
      },
    });
  }

  append(...batches: readonly LogBatch[]): void {
    this.store.append(packGroup(batches));
  }

  /** The only segment, or the last one. */
  get last(): string {
    return [...this.files.files.keys()].sort().at(-1) ?? 'none';
  }
}
