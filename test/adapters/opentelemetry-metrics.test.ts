import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bridgeMetrics,
  type MetricsBridge,
} from '../../src/adapters/opentelemetry/bridge-metrics.js';
import { instrumentsOf } from '../../src/adapters/opentelemetry/instruments.js';
import { METRICS } from '../../src/adapters/prometheus/metrics.js';
import { createPrometheusMetrics } from '../../src/adapters/prometheus.js';
import type { RuntimeSnapshot } from '../../src/workers/snapshot.js';
import { createVirtualGates, type VirtualGates } from '../workers/virtual-gate.js';

let exporter: InMemoryMetricExporter;
let reader: PeriodicExportingMetricReader;
let provider: MeterProvider;
let gates: VirtualGates;
let snapshots: number;

beforeEach(() => {
  exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1e8 });
  provider = new MeterProvider({ readers: [reader] });
  gates = createVirtualGates({ host: { rpcs: { read: { qpsPerCore: 10, burst: 1 } } } });
  snapshots = 0;
});
afterEach(() => provider.shutdown());

const runtime = {
  kernel: 'twin',
  config: () => ({ backendId: 7n }),
  snapshot: (): RuntimeSnapshot => {
    snapshots += 1;
    return gates.snapshot();
  },
} as const;

function bridge(): MetricsBridge {
  return bridgeMetrics(runtime, { meter: provider.getMeter('test') });
}

interface Point {
  readonly name: string;
  readonly unit: string;
  readonly type: DataPointType;
  readonly isMonotonic: boolean;
  readonly attributes: Record<string, unknown>;
  readonly value: unknown;
}

/** What one collection gives. */
async function collect(): Promise<Point[]> {
  exporter.reset();
  await reader.forceFlush();
  return exporter.getMetrics().flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap((metric) =>
        metric.dataPoints.map(({ attributes, value }) => ({
          name: metric.descriptor.name,
          unit: metric.descriptor.unit,
          type: metric.dataPointType,
          isMonotonic: metric.dataPointType === DataPointType.SUM && metric.isMonotonic,
          attributes: { ...attributes },
          value,
        })),
      ),
    ),
  );
}

describe('the bridge to a meter', () => {
  it('shows what the Prometheus adapter shows, under the names that an exporter makes the same of', async () => {
    const shown = bridge();
    await gates.gate().call({ rpc: 'read' }, () => 1);
    const points = await collect();
    const register = new Registry();
    createPrometheusMetrics(runtime, { register });
    const scraped = await register.getMetricsAsJSON();
    const exported = points.flatMap(({ name, unit, isMonotonic, attributes, value }) => {
      // As OpenTelemetry's rules of translation have it.
      const ratio = unit === '1' && !isMonotonic ? '_ratio' : '';
      const seconds = unit === 's' ? '_seconds' : ratio;
      const underscored = name.replaceAll('.', '_');
      const [, base, part] = /^(.*?)(_(?:bucket|sum|count))?$/.exec(underscored) ?? [];
      const isPart = part !== undefined && name.includes(`.${part.slice(1)}`);
      const ofHistogram = isPart ? `${base}_seconds${part}` : undefined;
      const full = ofHistogram ?? underscored + seconds + (isMonotonic ? '_total' : '');
      return [{ name: full, attributes, value }];
    });
    const expected = scraped.flatMap(({ name, values }) =>
      values.map((value) => ({
        name: (value as { metricName?: string }).metricName ?? name,
        attributes: { ...value.labels },
        value: value.value,
      })),
    );
    const volatile = (name: string): boolean => /silent|start_time/.test(name);
    const sorted = (all: typeof exported): string[] =>
      all
        .filter(({ name }) => !volatile(name))
        .map((one) => JSON.stringify(one, sortedKeys(one)))
        .sort();
    expect(sorted(exported)).toEqual(sorted(expected as typeof exported));
    expect(exported.length).toBeGreaterThan(50);
    shown.stop();
  });

  it('says 0 of what is there no more, which the SDK would go on exporting as it was', async () => {
    const limits = (...tables: string[]) =>
      tables.map((table) => ({ rpc: 'read', table, qpsLimit: 5, currentQps: 7, sinceMs: 1000 }));
    const circuit = (state: 'open' | 'half_open') =>
      ({
        address: 'a:1',
        state,
        isolated: false,
        consecutiveFailures: 3,
        retryAfterMs: 9,
      }) as const;
    let parts: Partial<RuntimeSnapshot> = { limits: limits('a', 'b'), circuits: [circuit('open')] };
    const shown = bridgeMetrics(
      { snapshot: () => ({ ...gates.snapshot(), ...parts }) },
      { meter: provider.getMeter('test') },
    );
    const seen = async (name: string) =>
      (await collect())
        .filter((point) => point.name === name)
        .map(({ attributes, value }) => [attributes['table'] ?? attributes['address'], value]);
    expect(await seen('spillway.table_qps_limit')).toEqual([
      ['a', 5],
      ['b', 5],
    ]);
    expect(await seen('spillway.circuit_state')).toEqual([['a:1', 2]]);
    parts = { limits: limits('b') };
    for (let again = 0; again < 2; again++) {
      expect(await seen('spillway.table_qps_limit')).toEqual([
        ['a', 0],
        ['b', 5],
      ]);
      expect(await seen('spillway.circuit_state')).toEqual([['a:1', 0]]);
    }
    parts = { limits: limits('a') };
    expect(await seen('spillway.table_qps_limit')).toEqual([
      ['a', 5],
      ['b', 0],
    ]);
    shown.stop();
  });

  it('takes one snapshot for each collection, and none before or after', async () => {
    const shown = bridge();
    expect(snapshots).toBe(0);
    await collect();
    expect(snapshots).toBe(1);
    await collect();
    expect(snapshots).toBe(2);
    shown.stop();
    await collect();
    expect(snapshots).toBe(2);
  });

  it('counts with counters and measures with gauges', async () => {
    bridge();
    const gate = gates.gate();
    await gate.call({ rpc: 'read' }, () => 1);
    const point = async (name: string) => (await collect()).find((one) => one.name === name);
    expect(await point('spillway.calls')).toEqual({
      name: 'spillway.calls',
      unit: '',
      type: DataPointType.SUM,
      isMonotonic: true,
      attributes: { rpc: 'read' },
      value: 1,
    });
    expect(await point('spillway.host_qps_limit')).toMatchObject({
      type: DataPointType.GAUGE,
      value: 10,
    });
    expect(await point('spillway.host_wait.sum')).toMatchObject({ unit: 's', isMonotonic: true });
  });

  it('keeps the last values of a runtime that has no more to say', async () => {
    bridge();
    await gates.gate().call({ rpc: 'read' }, () => 1);
    const before = await collect();
    const { snapshot } = gates;
    Object.assign(gates, {
      snapshot: () => {
        throw new Error('closed');
      },
    });
    expect(await collect()).toEqual(before);
    Object.assign(gates, { snapshot });
  });

  it('does without a meter of its own, and refuses what is none', () => {
    bridgeMetrics(runtime).stop();
    expect(() => bridgeMetrics(runtime, { meter: {} as never })).toThrow(/^meter must be a meter/);
    expect(() => bridgeMetrics({} as never)).toThrow(/^runtime must be a runtime/);
    expect(() => bridgeMetrics(runtime, { maxTableLabels: -1 })).toThrow(RangeError);
    expect(() => bridgeMetrics(runtime, { metre: 1 } as never)).toThrow(/^metre is no option/);
    expect(() => bridgeMetrics(runtime, null as never)).toThrow(/^options must be an object/);
  });

  it('gives every instrument a name of its own', () => {
    const names = METRICS.flatMap((spec) => instrumentsOf(spec).map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name) => /^spillway\.[a-z0-9_.]+$/.test(name))).toBe(true);
  });
});

/** All keys of an object and of its attributes, in one order. */
function sortedKeys(one: { readonly attributes: Record<string, unknown> }): string[] {
  return ['name', 'attributes', 'value', ...Object.keys(one.attributes).sort()];
}
