import type { BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import { describeValue } from '../../shared/quota.js';
import { checkKnown } from '../../workers/known-options.js';
import { packageVersion } from '../../workers/package-version.js';
import { METRICS } from '../prometheus/metrics.js';
import { checkMaxTableLabels, createScrape, type MetricsSource } from '../prometheus/scrape.js';
import { instrumentsOf } from './instruments.js';
import { LapsedSeries } from './lapsed-series.js';
import { loadOpenTelemetry } from './peer.js';

export interface BridgeOptions {
  /** Default: the global provider's, by the name `spillway`. */
  readonly meter?: Meter;
  /** Throttled tables that get attributes of their own; of the others only sums are shown. Default: 1000. */
  readonly maxTableLabels?: number;
}

const OPTIONS: ReadonlySet<string> = new Set<keyof BridgeOptions>(['meter', 'maxTableLabels']);

export interface MetricsBridge {
  /** Full names. */
  readonly names: readonly string[];
  /** Observes nothing any more. */
  stop(): void;
}

/**
 * Shows a runtime in OpenTelemetry: what the Prometheus adapter shows, as observable instruments. One snapshot for each
 * collection; no thread is asked.
 * @throws Error without the peer; TypeError, RangeError for bad options.
 */
export function bridgeMetrics(runtime: MetricsSource, options: BridgeOptions = {}): MetricsBridge {
  const api = loadOpenTelemetry();
  checkKnown(options, OPTIONS);
  const { maxTableLabels = 1000 } = options;
  checkMaxTableLabels(maxTableLabels);
  if (typeof runtime?.snapshot !== 'function')
    throw new TypeError(`runtime must be a runtime, got ${describeValue(runtime)}`);
  const { meter = api.metrics.getMeter('spillway', packageVersion()) } = options;
  if (typeof meter?.addBatchObservableCallback !== 'function')
    throw new TypeError(`meter must be a meter, got ${describeValue(meter)}`);
  const scrape = createScrape(runtime, maxTableLabels);
  const metrics = METRICS.map((spec) => ({
    spec,
    lapsed: spec.type === 'gauge' ? new LapsedSeries() : undefined,
    instruments: instrumentsOf(spec).map((instrument) => {
      const { name, unit, description, kind } = instrument;
      const about = { unit, description };
      const observable: Observable =
        kind === 'counter'
          ? meter.createObservableCounter(name, about)
          : meter.createObservableGauge(name, about);
      return { ...instrument, observable };
    }),
  }));
  const observables = metrics.flatMap(({ instruments }) =>
    instruments.map(({ observable }) => observable),
  );
  const observe = (result: BatchObservableResult): void => {
    const now = scrape();
    for (const { spec, lapsed, instruments } of metrics) {
      const bySuffix = new Map(instruments.map((one) => [one.suffix, one.observable]));
      const samples = spec.read(now);
      for (const { labels, value, suffix } of [...samples, ...(lapsed?.next(samples) ?? [])]) {
        const observable = bySuffix.get(suffix);
        if (observable !== undefined) result.observe(observable, value, labels);
      }
    }
  };
  meter.addBatchObservableCallback(observe, observables);
  return {
    names: metrics.flatMap(({ instruments }) => instruments.map(({ name }) => name)),
    stop: () => meter.removeBatchObservableCallback(observe, observables),
  };
}
