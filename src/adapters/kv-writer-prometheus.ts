import type { Metric, Registry } from 'prom-client';
import type { KvWriterStats } from '../actors/kv/writer/writer-stats.js';
import { defaultRegister } from './prometheus/default-register.js';
import { KV_WRITER_METRICS } from './prometheus/kv-writer-metrics.js';
import { oncePerTurn } from './prometheus/once-per-turn.js';
import { SnapshotMetric } from './prometheus/snapshot-metric.js';

export interface KvWriterPrometheusOptions {
  /** Default: prom-client's global register. */
  readonly register?: Registry;
  /** Put before every name; another one for each writer of a register. Default: `spillway_kv_writer_`. */
  readonly prefix?: string;
}

export interface KvWriterPrometheusMetrics {
  readonly register: Registry;
  readonly names: readonly string[];
  unregister(): void;
}

/**
 * Shows a writer in a prom-client register, read at scrape time. No labels.
 *
 * @throws TypeError for a bad prefix; Error when a name is registered already.
 */
export function createKvWriterPrometheusMetrics(
  writer: { stats(): KvWriterStats },
  { register = defaultRegister(), prefix = 'spillway_kv_writer_' }: KvWriterPrometheusOptions = {},
): KvWriterPrometheusMetrics {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(prefix)) {
    throw new TypeError(`prefix must be the beginning of a metric name, got '${prefix}'`);
  }
  const names = KV_WRITER_METRICS.map(({ name }) => prefix + name);
  const taken = names.find((name) => register.getSingleMetric(name) !== undefined);
  if (taken !== undefined) throw new Error(`a metric ${taken} is registered already`);
  const stats = oncePerTurn(() => writer.stats());
  for (const spec of KV_WRITER_METRICS) {
    const metric = new SnapshotMetric(prefix, spec, () => [
      { labels: {}, value: spec.read(stats()) },
    ]);
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
