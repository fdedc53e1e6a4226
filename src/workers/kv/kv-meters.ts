import type { TabletMeters } from '../../actors/kv/tablet-meters.js';
import { bucketOf, HISTOGRAM_BUCKETS, upperNs } from '../../shared/histogram-buckets.js';
import type { HistogramSnapshot } from '../../shared/histogram-snapshot.js';

/** One bucket, now. */
export interface KvBucketStats {
  readonly bucket: number;
  /** 0 to 1. */
  readonly pressure: number;
  readonly l0Files: number;
  readonly pendingBytes: number;
  readonly preWriteEntries: number;
}

export interface KvTableStats {
  readonly table: string;
  /** Highest pressure of its buckets now. */
  readonly maxPressure: number;
  /** Batches refused with code 71. */
  readonly rejections: number;
  readonly records: number;
  readonly bytes: number;
  /** Segments that went into the store, and how long each took there. */
  readonly flushes: HistogramSnapshot;
  readonly flushedRecords: number;
  /** Segments that the engine refused and that are tried again. */
  readonly flushRetries: number;
  /** Waiting for the store, those in the log included. */
  readonly pendingBytes: number;
  readonly preWriteEntries: number;
  /** Most level-0 files of its buckets. */
  readonly maxL0Files: number;
  readonly buckets: readonly KvBucketStats[];
}

type TabletState = Parameters<TabletMeters['state']>[0];

/** What the tablets of one table count. */
export class TableMeters {
  readonly #table: string;
  readonly #states: TabletState[] = [];
  readonly #buckets = new Array<number>(HISTOGRAM_BUCKETS).fill(0);
  #flushNs = 0;
  #records = 0;
  #bytes = 0;
  #rejections = 0;
  #flushedRecords = 0;
  #retries = 0;

  constructor(table: string) {
    this.#table = table;
  }

  tablet(bucket: number): TabletMeters {
    return {
      accepted: (records, bytes) => {
        this.#records += records;
        this.#bytes += bytes;
      },
      rejected: () => {
        this.#rejections += 1;
      },
      flushed: (records, tookMs) => {
        const ns = Math.max(0, tookMs * 1e6);
        const at = bucketOf(ns);
        this.#buckets[at] = (this.#buckets[at] ?? 0) + 1;
        this.#flushNs += ns;
        this.#flushedRecords += records;
      },
      retried: () => {
        this.#retries += 1;
      },
      state: (state) => {
        this.#states[bucket] = state;
      },
    };
  }

  stats(): KvTableStats {
    const states = this.#states.filter((state) => state !== undefined);
    const each = this.#states.flatMap((state, bucket): KvBucketStats[] => {
      if (state === undefined) return [];
      const { pressure, l0Files, pendingBytes, entries } = state;
      return [{ bucket, pressure, l0Files, pendingBytes, preWriteEntries: entries }];
    });
    const most = (read: (state: TabletState) => number): number =>
      states.reduce((max, state) => Math.max(max, read(state)), 0);
    const sum = (read: (state: TabletState) => number): number =>
      states.reduce((total, state) => total + read(state), 0);
    const buckets = this.#buckets.flatMap((count, i) =>
      count === 0 ? [] : [{ upperNs: upperNs(i), count }],
    );
    return {
      table: this.#table,
      maxPressure: most(({ pressure }) => pressure),
      rejections: this.#rejections,
      records: this.#records,
      bytes: this.#bytes,
      flushes: {
        count: buckets.reduce((total, { count }) => total + count, 0),
        sumNs: this.#flushNs,
        buckets,
      },
      flushedRecords: this.#flushedRecords,
      flushRetries: this.#retries,
      pendingBytes: sum(({ pendingBytes }) => pendingBytes),
      preWriteEntries: sum(({ entries }) => entries),
      maxL0Files: most(({ l0Files }) => l0Files),
      buckets: each,
    };
  }
}
