import { CALL_METRICS } from './call-metrics.js';
import { CIRCUIT_METRICS } from './circuit-metrics.js';
import { HOST_METRICS } from './host-metrics.js';
import type { MetricSpec } from './metric-spec.js';
import { PEER_METRICS } from './peer-metrics.js';
import { PRESSURE_METRICS } from './pressure-metrics.js';
import { RUNTIME_METRICS } from './runtime-metrics.js';
import { TABLE_METRICS } from './table-metrics.js';

/** Everything that a scrape shows of a runtime. A new metric is one entry, and a line in docs/reference/metrics.md. */
export const METRICS: readonly MetricSpec[] = [
  ...CALL_METRICS,
  ...HOST_METRICS,
  ...TABLE_METRICS,
  ...CIRCUIT_METRICS,
  ...PRESSURE_METRICS,
  ...PEER_METRICS,
  ...RUNTIME_METRICS,
];
