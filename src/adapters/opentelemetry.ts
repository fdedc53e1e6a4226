/** OpenTelemetry, by the optional peer `@opentelemetry/api`, which is loaded when one of these is first used. */
export {
  type BridgeOptions,
  bridgeMetrics,
  type MetricsBridge,
} from './opentelemetry/bridge-metrics.js';
export { type TracedGate, type TraceOptions, traceGate } from './opentelemetry/trace-gate.js';
