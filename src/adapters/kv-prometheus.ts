import type { Metric, Registry } from 'prom-client';
import type { KvStoreStats } from '../workers/kv/kv-store.js';
import { defaultRegister } from './prometheus/default-register.js';
import { KV_METRICS, KV_STALLS } from './prometheus/kv-metrics.js';
import { labelValue } from './prometheus/label-value.js';
import { oncePerTurn } from './prometheus/once-per-turn.js';
import { SnapshotMetric } from './prometheus/snapshot-metric.js';

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

/**
 * Shows a key-value store in a prom-client register, read at scrape time. Labels: `table` only.
 *
 * @throws TypeError for a bad prefix; Error when a name is registered already.
 */
export function createKvPrometheusMetrics(
  store: KvMetricsSource,
  { register = defaultRegister(), prefix = 'spillway_kv_' }: KvPrometheusOptions = {},
): KvPrometheusMetrics {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(prefix)) {
    throw new TypeError(`prefix must be the beginning of a metric name, got '${prefix}'`);
  }
  const names = [...KV_METRICS, KV_STALLS].map(({ name }) => prefix + name);
  const taken = names.find((name) => register.getSingleMetric(name) !== undefined);
  if (taken !== undefined) throw new Error(`a metric ${taken} is registered already`);
  const stats = oncePerTurn(() => store.stats());
  const metrics = KV_METRICS.map(
    (spec) => new SnapshotMetric(prefix, spec, () => spec.read(stats())),
  );
  metrics.push(
    new SnapshotMetric(prefix, KV_STALLS, async () =>
      Object.entries(await store.stalledMs()).map(([table, ms]) => ({
        labels: { table: labelValue(table) },
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
