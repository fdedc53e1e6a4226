import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createPrometheusMetrics } from '../../src/adapters/prometheus.js';
import { snapshotSample } from './snapshot-sample.js';

it('shows open windows by bucket, and what became of calls that met one', async () => {
  const register = new Registry();
  const snapshot = snapshotSample({
    pressure: [
      { bucket: 'shard "1"', pressure: 0.5, remainingMs: 750 },
      { bucket: `${'x'.repeat(200)}`, pressure: 1, remainingMs: 3000 },
    ],
    pressureTotals: {
      open: 1002,
      signals: 5000,
      untracked: 3,
      refused: 4,
      waiting: 6,
      wait: { count: 2, sumNs: 3e9, buckets: [{ upperNs: 2e9, count: 2 }] },
    },
  });
  createPrometheusMetrics({ snapshot: () => snapshot }, { register });
  const lines = (await register.metrics())
    .split('\n')
    .filter((l) => l.startsWith('spillway_pressure'));
  expect(lines).toEqual(
    expect.arrayContaining([
      'spillway_pressure_windows 1002',
      'spillway_pressure{bucket="shard \\"1\\""} 0.5',
      'spillway_pressure_window_remaining_seconds{bucket="shard \\"1\\""} 0.75',
      'spillway_pressure_windows_not_shown 1000',
      'spillway_pressure_signals_total 5000',
      'spillway_pressure_untracked_total 3',
      'spillway_pressure_refused_total 4',
      'spillway_pressure_waiting_calls 6',
      'spillway_pressure_wait_seconds_sum 3',
      'spillway_pressure_wait_seconds_count 2',
      'spillway_pressure_wait_seconds_bucket{le="+Inf"} 2',
    ]),
  );
  for (const line of lines) expect(line.length).toBeLessThan(260);
});
