/** How the metrics of a scrape are called in OpenTelemetry, and which instruments they are. Pure. */
import type { MetricSpec, Sample } from '../prometheus/metric-spec.js';

export interface Instrument {
  /** An exporter to Prometheus makes the name out of it that the Prometheus adapter uses. */
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly unit: string;
  readonly description: string;
  /** Which samples of its metric are its own. */
  readonly suffix: Sample['suffix'];
}

/**
 * `spillway_host_qps_limit` is `spillway.host_qps_limit`; `_total` and `_seconds` go into the kind and the unit. A histogram
 * is three counters, as there are no observable histograms.
 */
export function instrumentsOf({ name, type, help }: MetricSpec): readonly Instrument[] {
  const counted = name.replace(/_total$/, '');
  const base = `spillway.${counted.replace(/_seconds$/, '')}`;
  const unit = counted.endsWith('_seconds') ? 's' : '1';
  if (type !== 'histogram')
    return [{ name: base, kind: type, unit, description: help, suffix: undefined }];
  const part = (suffix: NonNullable<Sample['suffix']>, of: string): Instrument => ({
    name: base + suffix.replace('_', '.'),
    kind: 'counter',
    unit: of,
    description: help,
    suffix,
  });
  return [part('_bucket', '1'), part('_sum', unit), part('_count', '1')];
}
