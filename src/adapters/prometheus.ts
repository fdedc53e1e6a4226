import { register as defaultRegister, type Metric, type Registry } from 'prom-client';
import { packageVersion } from '../workers/package-version.js';
import type { RuntimeSnapshot } from '../workers/snapshot.js';
import type { ProcessFacts, Sample, Scrape } from './prometheus/metric-spec.js';
import { METRICS } from './prometheus/metrics.js';
import { shownTables } from './prometheus/shown-tables.js';
import { SnapshotMetric } from './prometheus/snapshot-metric.js';

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

/** What metrics are read from: a runtime, or what a test plays. */
export interface MetricsSource {
  snapshot(): RuntimeSnapshot;
  readonly kernel?: 'wasm' | 'twin';
  config?(): { readonly backendId: number | bigint | null };
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
  const { register = defaultRegister, prefix = 'spillway_', maxTableLabels = 1000 } = options;
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(prefix)) {
    throw new TypeError(`prefix must be the beginning of a metric name, got '${prefix}'`);
  }
  if (!Number.isSafeInteger(maxTableLabels) || maxTableLabels < 0) {
    throw new RangeError(`maxTableLabels must be an integer >= 0, got ${maxTableLabels}`);
  }
  const names = METRICS.map(({ name }) => prefix + name);
  for (const name of names) {
    if (register.getSingleMetric(name) !== undefined) {
      throw new Error(`a metric ${name} is registered already`);
    }
  }
  const facts = processFacts(runtime);
  let startedAt: number | undefined;
  const scrape = oncePerTurn((): Scrape => {
    const snapshot = runtime.snapshot();
    // Once: the wall clock may be set anew, the start stays.
    startedAt ??= (Date.now() - snapshot.atMs) / 1e3;
    return { snapshot, tables: shownTables(snapshot, maxTableLabels), facts, startedAt };
  });
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

function processFacts(runtime: MetricsSource): ProcessFacts {
  const backendId = runtime.config?.().backendId;
  return {
    version: packageVersion(),
    kernel: runtime.kernel ?? 'unknown',
    node: process.versions.node,
    backendId: backendId === undefined || backendId === null ? undefined : String(backendId),
  };
}

/** A register reads all its metrics in one turn: they show one moment. */
function oncePerTurn(read: () => Scrape): () => Scrape {
  let last: Scrape | undefined;
  let isFresh = false;
  return () => {
    if (isFresh && last !== undefined) return last;
    try {
      last = read();
    } catch (error) {
      // A closed runtime has no more to say; a scrape must not fail for it.
      if (last === undefined) throw error;
    }
    isFresh = true;
    queueMicrotask(() => {
      isFresh = false;
    });
    return last;
  };
}
