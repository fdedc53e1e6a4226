import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createKvPrometheusMetrics } from '../../src/adapters/kv-prometheus.js';
import { TableMeters } from '../../src/workers/kv/kv-meters.js';

function source() {
  const meters = new TableMeters('orders');
  const first = meters.tablet(0);
  const second = meters.tablet(1);
  first.accepted(3, 30);
  second.accepted(1, 10);
  second.rejected();
  first.flushed(3, 2);
  first.retried();
  first.state({ pressure: 0.25, pendingBytes: 100, entries: 2, l0Files: 11 });
  second.state({ pressure: 0.5, pendingBytes: 50, entries: 1, l0Files: 7 });
  return {
    stats: () => ({ tables: [meters.stats()], logBytes: 4096 }),
    stalledMs: async () => ({ orders: 1500 }),
  };
}

describe('metrics of a key-value store', () => {
  it('show the highest pressure of a table, and add up the rest', async () => {
    const register = new Registry();
    const { names, unregister } = createKvPrometheusMetrics(source(), { register });
    const text = await register.metrics();
    for (const line of [
      'spillway_kv_backpressure_max_pressure{table="orders"} 0.5',
      'spillway_kv_backpressure_rejections_total{table="orders"} 1',
      'spillway_kv_records_total{table="orders"} 4',
      'spillway_kv_bytes_total{table="orders"} 40',
      'spillway_kv_flushes_total{table="orders"} 1',
      'spillway_kv_flush_seconds_bucket{table="orders",le="0.001"} 0',
      'spillway_kv_flush_seconds_bucket{table="orders",le="0.0025"} 1',
      'spillway_kv_flush_seconds_count{table="orders"} 1',
      'spillway_kv_flushed_records_total{table="orders"} 3',
      'spillway_kv_flush_retries_total{table="orders"} 1',
      'spillway_kv_pending_bytes{table="orders"} 150',
      'spillway_kv_pre_write_entries{table="orders"} 3',
      'spillway_kv_l0_files{table="orders"} 11',
      'spillway_kv_log_bytes 4096',
      'spillway_kv_engine_stall_seconds_total{table="orders"} 1.5',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    for (const name of names) expect(text).toContain(`# HELP ${name} `);
    unregister();
    expect(await register.metrics()).not.toContain('spillway_kv');
  });

  it('are refused twice under one name, and under a bad prefix', () => {
    const register = new Registry();
    createKvPrometheusMetrics(source(), { register });
    expect(() => createKvPrometheusMetrics(source(), { register })).toThrow('registered already');
    expect(() => createKvPrometheusMetrics(source(), { register, prefix: '1' })).toThrow(TypeError);
  });
});
