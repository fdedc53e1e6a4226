import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { KvWriterStats } from '../../src/actors/kv/writer/writer-stats.js';
import { createKvWriterPrometheusMetrics } from '../../src/adapters/kv-writer-prometheus.js';

const stats: KvWriterStats = {
  records: 4,
  bufferedBytes: 5000,
  waiting: 1,
  inFlight: 2,
  windows: 3,
  given: 20,
  acknowledged: 15,
  failed: 1,
  attempts: 9,
  retries: 6,
  refusals: 7,
  throttledMs: 1500,
  trouble: undefined,
  pressure: [],
};
const source = { stats: () => stats };

describe('metrics of a key-value writer', () => {
  it('show what it counts', async () => {
    const register = new Registry();
    const { names, unregister } = createKvWriterPrometheusMetrics(source, { register });
    const text = await register.metrics();
    const shown = Object.fromEntries(
      [...text.matchAll(/^spillway_kv_writer_(\w+) (\S+)$/gm)].map(([, name, value]) => [
        name,
        Number(value),
      ]),
    );
    expect(shown).toEqual({
      given_total: 20,
      acknowledged_total: 15,
      failed_total: 1,
      open_records: 4,
      buffered_bytes: 5000,
      waiting_records: 1,
      in_flight_requests: 2,
      requests_total: 9,
      retries_total: 6,
      refusals_total: 7,
      throttled_seconds_total: 1.5,
      throttled_buckets: 3,
    });
    for (const name of names) expect(text).toContain(`# HELP ${name} `);
    unregister();
    expect(await register.metrics()).not.toContain('spillway_kv_writer');
  });

  it('are read once a scrape', async () => {
    const register = new Registry();
    let reads = 0;
    const counted = {
      stats() {
        reads += 1;
        return { ...stats, given: reads };
      },
    };
    createKvWriterPrometheusMetrics(counted, { register });
    expect(await register.metrics()).toContain('spillway_kv_writer_given_total 1\n');
    expect(reads).toBe(1);
    expect(await register.metrics()).toContain('spillway_kv_writer_given_total 2\n');
  });

  it('are refused twice under one name, and under a bad prefix', () => {
    const register = new Registry();
    createKvWriterPrometheusMetrics(source, { register });
    const again = (prefix?: string): unknown =>
      createKvWriterPrometheusMetrics(source, {
        register,
        ...(prefix === undefined ? {} : { prefix }),
      });
    expect(again).toThrow('registered already');
    expect(() => again('1')).toThrow(TypeError);
    expect(again('another_')).toBeDefined();
  });
});
