import type { Metric, Registry } from 'prom-client';
import { defaultRegister } from './prometheus/default-register.js';
import type { Sample } from './prometheus/metric-spec.js';
import { METRICS } from './prometheus/metrics.js';
import { oncePerTurn } from './prometheus/once-per-turn.js';
import { checkMaxTableLabels, createScrape, type MetricsSource } from './prometheus/scrape.js';
import { SnapshotMetric } from './prometheus/snapshot-metric.js';

export type { MetricsSource } from './prometheus/scrape.js';

export interface PrometheusOptions {
  /** Where the metrics are registered. Default: prom-client's global register. */
  readonly register?: Registry;
  /** Put before every name. Default: `spillway_`. */
  readonly prefix?: string;
  /** Throttled tables that get series of their own; of the others only sums are shown. Default: 1000. */
  readonly maxTableLabels?: number;
}

export interface PrometheusMetrics {
  readonly register: Registry;
  /** Full names, in the order of a scrape. */
  readonly names: readonly string[];
  /** Takes the metrics out of the register, such as before another runtime gets the same names. */
  unregister(): void;
}

/**
 * Shows a runtime in a prom-client register. Values are read from the arena at scrape time, one snapshot a scrape; no thread
 * is asked, and the counts of threads that have died are in them. Once the runtime is closed, the last snapshot stays.
 *
 * @throws RangeError, TypeError for bad options; Error when a name is registered already.
 */
export function createPrometheusMetrics(
  runtime: MetricsSource,
  options: PrometheusOptions = {},
): PrometheusMetrics {
  const { register = defaultRegister(), prefix = 'spillway_', maxTableLabels = 1000 } = options;
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(prefix)) {
    throw new TypeError(`prefix must be the beginning of a metric name, got '${prefix}'`);
  }
  checkMaxTableLabels(maxTableLabels);
  const names = METRICS.map(({ name }) => prefix + name);
  for (const name of names) {
    if (register.getSingleMetric(name) !== undefined) {
      throw new Error(`a metric ${name} is registered already`);
    }
  }
  const scrape = oncePerTurn(createScrape(runtime, maxTableLabels));
  for (const spec of METRICS) {
    const read = (): readonly Sample[] => spec.read(scrape());
    // The register asks no more of a metric than what this has; the type knows prom-client's own classes only.
    register.registerMetric(new SnapshotMetric(prefix, spec, read) as unknown as Metric);
  }
  return {
    register,
    names,
    unregister: () => {
      for (const name of names) register.removeSingleMetric(name);
    },
  };
}
