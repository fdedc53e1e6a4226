import type { KvTableStats } from '../../workers/kv/kv-meters.js';
import type { KvStoreStats } from '../../workers/kv/kv-store.js';
import { labelValue } from './label-value.js';
import { histogramSamples, type MetricSpec, type Sample } from './metric-spec.js';

export interface KvMetric extends Omit<MetricSpec, 'read'> {
  read(stats: KvStoreStats): readonly Sample[];
}

function perTable(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (table: KvTableStats) => number,
  more: Pick<KvMetric, 'together'> = {},
): KvMetric {
  const samples = ({ tables }: KvStoreStats): Sample[] =>
    tables.map((one) => ({ labels: { table: labelValue(one.table) }, value: read(one) }));
  return { type, name, help, labels: ['table'], ...more, read: samples };
}

function flushSeconds({ tables }: KvStoreStats): Sample[] {
  return tables.flatMap(({ table, flushes }) =>
    histogramSamples({ table: labelValue(table) }, flushes),
  );
}

/** What a store counts itself. */
export const KV_METRICS: readonly KvMetric[] = [
  perTable(
    'gauge',
    'backpressure_max_pressure',
    'Highest pressure that a bucket of the table reports now, in [0, 1).',
    ({ maxPressure }) => maxPressure,
    { together: 'max' },
  ),
  perTable(
    'counter',
    'backpressure_rejections_total',
    'Batches that were refused with code 71, before the engine would have stalled.',
    ({ rejections }) => rejections,
  ),
  perTable(
    'counter',
    'records_total',
    'Records that were made durable in the log.',
    ({ records }) => records,
  ),
  perTable('counter', 'bytes_total', 'Bytes of their keys and values.', ({ bytes }) => bytes),
  perTable(
    'counter',
    'flushes_total',
    'Segments that went into the store.',
    ({ flushes }) => flushes.count,
  ),
  {
    type: 'histogram',
    name: 'flush_seconds',
    help: 'How long the store took for a segment, the way to its thread and back included.',
    labels: ['table'],
    read: flushSeconds,
  },
  perTable(
    'counter',
    'flushed_records_total',
    'Records that went into the store.',
    ({ flushedRecords }) => flushedRecords,
  ),
  perTable(
    'counter',
    'flush_retries_total',
    'Segments that the engine refused and that are tried again.',
    ({ flushRetries }) => flushRetries,
  ),
  perTable(
    'gauge',
    'pending_bytes',
    'Bytes that are on their way into the store, those in the log included.',
    ({ pendingBytes }) => pendingBytes,
  ),
  perTable(
    'gauge',
    'pre_write_entries',
    'Records in the pre-write buffers.',
    ({ preWriteEntries }) => preWriteEntries,
  ),
  perTable(
    'gauge',
    'l0_files',
    'Most level-0 files of a bucket, as of its last sample.',
    ({ maxL0Files }) => maxL0Files,
    { together: 'max' },
  ),
  {
    type: 'gauge',
    name: 'log_bytes',
    help: 'Bytes of the log on disk.',
    labels: [],
    read: ({ logBytes }) => [{ labels: {}, value: logBytes }],
  },
];

/** The only one that asks the engines: their report is made at scrape time. */
export const KV_STALLS: Omit<MetricSpec, 'read'> = {
  type: 'counter',
  name: 'engine_stall_seconds_total',
  help: 'How long writers were held up in the engines, all of them together.',
  labels: ['table'],
};
