import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKvPrometheusMetrics } from '../../src/adapters/kv-prometheus.js';
import { createKvWriterPrometheusMetrics } from '../../src/adapters/kv-writer-prometheus.js';
import { KV_METRICS, KV_STALLS } from '../../src/adapters/prometheus/kv-metrics.js';
import { KV_WRITER_METRICS } from '../../src/adapters/prometheus/kv-writer-metrics.js';
import { METRICS } from '../../src/adapters/prometheus/metrics.js';
import { createPrometheusMetrics } from '../../src/adapters/prometheus.js';
import { snapshotSample } from '../adapters/snapshot-sample.js';

const text = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8');
const rows = [...text.matchAll(/^\| `(spillway_\w+)` \|(.*)\|$/gm)].map(([, name, rest]) => {
  const [type, labels, unit, says, seed] = (rest ?? '').split('|').map((cell) => cell.trim());
  return { name, type, labels, unit, says, seed };
});

describe('docs/reference/metrics.md', () => {
  let register: Registry;
  beforeEach(() => {
    register = new Registry();
    createPrometheusMetrics({ snapshot: () => snapshotSample() }, { register });
    const source = { stats: () => ({ tables: [], logBytes: 0 }), stalledMs: async () => ({}) };
    createKvPrometheusMetrics(source, { register });
    createKvWriterPrometheusMetrics({ stats: () => ({}) as never }, { register });
  });

  it('has a line for every metric, with its type, labels and name in Doris, and no other', () => {
    const all = [
      ...METRICS.map((spec) => ({ ...spec, name: `spillway_${spec.name}` })),
      ...[...KV_METRICS, KV_STALLS].map((spec) => ({ ...spec, name: `spillway_kv_${spec.name}` })),
      ...KV_WRITER_METRICS.map((spec) => ({ ...spec, name: `spillway_kv_writer_${spec.name}` })),
    ];
    expect(rows.map(({ name, type, labels, seed }) => ({ name, type, labels, seed }))).toEqual(
      all.map(({ name, type, labels, seed }) => ({
        name,
        type,
        labels: [...labels, ...(type === 'histogram' ? ['le'] : [])]
          .map((label) => `\`${label}\``)
          .join(', '),
        seed: seed === undefined ? '' : `\`${seed}\``,
      })),
    );
  });

  it('says what each of them means, and its unit where there is one', () => {
    expect(rows.filter(({ says }) => says === '')).toEqual([]);
    const ofNoUnit = rows.filter(({ unit }) => unit === '').map(({ name }) => name);
    expect(ofNoUnit).toEqual([
      'spillway_circuit_state',
      'spillway_pressure',
      'spillway_build_info',
      'spillway_backend_info',
    ]);
    for (const { name = '', unit } of rows)
      expect([name, unit === 'seconds']).toEqual([name, /_seconds(_total)?$/.test(name)]);
  });

  it('names what a scrape names, with the same types', async () => {
    const types = [...(await register.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    expect(types.map(([, name, type]) => ({ name, type }))).toEqual(
      rows.map(({ name, type }) => ({ name, type })),
    );
  });
});
