import type { KvWriterStats } from '../../actors/kv/writer/writer-stats.js';
import type { MetricSpec } from './metric-spec.js';

export interface KvWriterMetric extends Omit<MetricSpec, 'read' | 'type'> {
  readonly type: 'counter' | 'gauge';
  read(stats: KvWriterStats): number;
}

function of(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (stats: KvWriterStats) => number,
): KvWriterMetric {
  return { type, name, help, labels: [], read };
}

/** What a writer counts. */
export const KV_WRITER_METRICS: readonly KvWriterMetric[] = [
  of('counter', 'given_total', 'Puts and deletes that were given.', ({ given }) => given),
  of(
    'counter',
    'acknowledged_total',
    'Puts and deletes that a server has acknowledged.',
    ({ acknowledged }) => acknowledged,
  ),
  of(
    'counter',
    'failed_total',
    'Puts and deletes that were rejected after they had been given.',
    ({ failed }) => failed,
  ),
  of('gauge', 'open_records', 'Puts and deletes that are not settled.', ({ records }) => records),
  of(
    'gauge',
    'buffered_bytes',
    'Bytes of records in the buffer, those of requests under way included.',
    ({ bufferedBytes }) => bufferedBytes,
  ),
  of('gauge', 'waiting_records', 'Puts that wait for room.', ({ waiting }) => waiting),
  of('gauge', 'in_flight_requests', 'Requests under way.', ({ inFlight }) => inFlight),
  of('counter', 'requests_total', 'Requests that were sent.', ({ attempts }) => attempts),
  of(
    'counter',
    'retries_total',
    'Requests that came to nothing and were made again.',
    ({ retries }) => retries,
  ),
  of('counter', 'refusals_total', 'Answers with code 71.', ({ refusals }) => refusals),
  of(
    'counter',
    'throttled_seconds_total',
    'How long batches were held up by windows, all buckets together.',
    ({ throttledMs }) => throttledMs / 1000,
  ),
  of('gauge', 'throttled_buckets', 'Buckets with an open window.', ({ windows }) => windows),
];
