import { register as defaultRegister, type Metric, type Registry } from 'prom-client';
import type { KvTableStats } from '../workers/kv/kv-meters.js';
import type { KvStoreStats } from '../workers/kv/kv-store.js';
import { cumulativeBuckets } from './prometheus-buckets.js';
import type { MetricSpec, Sample } from './prometheus-metrics.js';
import { SnapshotMetric } from './prometheus-snapshot-metric.js';

export interface KvPrometheusOptions {
  /** Default: prom-client's global register. */
  readonly register?: Registry;
  /** Put before every name. Default: `spillway_kv_`. */
  readonly prefix?: string;
}

export interface KvPrometheusMetrics {
  readonly register: Registry;
  readonly names: readonly string[];
  unregister(): void;
}

/** What metrics are read from: a store, or what a test plays. */
export interface KvMetricsSource {
  stats(): KvStoreStats;
  stalledMs(): Promise<Readonly<Record<string, number>>>;
}

interface KvMetric extends Omit<MetricSpec, 'read'> {
  read(stats: KvStoreStats): readonly Sample[];
}

function perTable(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (table: KvTableStats) => number,
): KvMetric {
  const samples = ({ tables }: KvStoreStats): Sample[] =>
    tables.map((one) => ({ labels: { table: one.table }, value: read(one) }));
  return { type, name, help, labels: ['table'], read: samples };
}

function flushSeconds({ tables }: KvStoreStats): Sample[] {
  return tables.flatMap(({ table, flushes }) => {
    const { buckets, count, sumNs } = flushes;
    const lines: Sample[] = cumulativeBuckets(buckets, count).map(({ le, count: value }) => ({
      labels: { table, le },
      value,
      suffix: '_bucket',
    }));
    lines.push({ labels: { table }, value: sumNs / 1e9, suffix: '_sum' });
    lines.push({ labels: { table }, value: count, suffix: '_count' });
    return lines;
  });
}

const KV_METRICS: readonly KvMetric[] = [
  perTable(
    'gauge',
    'backpressure_max_pressure',
    'Highest pressure that a bucket of the table reports now, in [0, 1).',
    ({ maxPressure }) => maxPressure,
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
    labels: ['table', 'le'],
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
const STALLS: Omit<MetricSpec, 'read'> = {
  type: 'counter',
  name: 'engine_stall_seconds_total',
  help: 'How long writers were held up in the engines, all of them together.',
  labels: ['table'],
};

/**
 * Shows a key-value store in a prom-client register, read at scrape time. Labels: `table` only.
 *
 * @throws TypeError for a bad prefix; Error when a name is registered already.
 */
export function createKvPrometheusMetrics(
  store: KvMetricsSource,
  { register = defaultRegister, prefix = 'spillway_kv_' }: KvPrometheusOptions = {},
): KvPrometheusMetrics {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(prefix)) {
    throw new TypeError(`prefix must be the beginning of a metric name, got '${prefix}'`);
  }
  const names = [...KV_METRICS, STALLS].map(({ name }) => prefix + name);
  const taken = names.find((name) => register.getSingleMetric(name) !== undefined);
  if (taken !== undefined) throw new Error(`a metric ${taken} is registered already`);
  const metrics = KV_METRICS.map(
    (spec) => new SnapshotMetric(prefix, spec, () => spec.read(store.stats())),
  );
  metrics.push(
    new SnapshotMetric(prefix, STALLS, async () =>
      Object.entries(await store.stalledMs()).map(([table, ms]) => ({
        labels: { table },
        value: ms / 1000,
      })),
    ),
  );
  for (const metric of metrics) {
    // The register asks no more of a metric than what this has; the type knows prom-client's own classes only.
    register.registerMetric(metric as unknown as Metric);
  }
  return {
    register,
    names,
    unregister: () => {
      for (const name of names) register.removeSingleMetric(name);
    },
  };
}
