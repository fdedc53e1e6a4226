/** How the metrics of a scrape are called in OpenTelemetry, and which instruments they are. Pure. */
import type { MetricSpec, Sample } from '../prometheus/metric-spec.js';

export interface Instrument {
  /**
   * Who translates it to Prometheus by OpenTelemetry's rules (unit and `_total` at the end) gets the name that the Prometheus
   * adapter uses, but for the parts of histograms.
   */
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  /** `s`, or '' for counts: `1` is for ratios, and puts `_ratio` behind the name of a gauge on its way to Prometheus. */
  readonly unit: '' | 's';
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
  const unit = counted.endsWith('_seconds') ? 's' : '';
  if (type !== 'histogram')
    return [{ name: base, kind: type, unit, description: help, suffix: undefined }];
  const part = (suffix: NonNullable<Sample['suffix']>, of: Instrument['unit']): Instrument => ({
    name: base + suffix.replace('_', '.'),
    kind: 'counter',
    unit: of,
    description: help,
    suffix,
  });
  return [part('_bucket', ''), part('_sum', unit), part('_count', '')];
}
