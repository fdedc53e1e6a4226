import { createRequire } from 'node:module';
import { AggregatorRegistry, Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { labelValue } from '../../src/adapters/prometheus/label-value.js';
import { createPrometheusMetrics } from '../../src/adapters/prometheus.js';
import type { RuntimeSnapshot } from '../../src/workers/snapshot.js';
import { rpcSample, snapshotSample } from './snapshot-sample.js';

let register: Registry;
let current: RuntimeSnapshot;
let reads: number;
const runtime = {
  snapshot() {
    reads += 1;
    return current;
  },
};
beforeEach(() => {
  register = new Registry();
  current = snapshotSample();
  reads = 0;
});

/** `name{labels}` -> value. */
async function scrape(): Promise<Map<string, string>> {
  const lines = (await register.metrics()).split('\n').filter((line) => /^[a-z]/.test(line));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      line.slice(line.lastIndexOf(' ') + 1),
    ]),
  );
}

describe('createPrometheusMetrics', () => {
  it('shows totals as they are, however they got there', async () => {
    createPrometheusMetrics(runtime, { register });
    current = snapshotSample({
      rpcs: [rpcSample('commit_rowset', { calls: 12, busy: 3, dryRunWaitMs: 1500 })],
      throttle: { ...current.throttle, upgrades: 4 },
      maxLagMs: 2.5,
    });
    const first = await scrape();
    expect(first.get('spillway_calls_total{rpc="commit_rowset"}')).toBe('12');
    expect(first.get('spillway_busy_total{rpc="commit_rowset"}')).toBe('3');
    expect(first.get('spillway_dry_run_wait_seconds_total{rpc="commit_rowset"}')).toBe('1.5');
    expect(first.get('spillway_throttle_upgrades_total')).toBe('4');
    expect(first.get('spillway_clock_lag_max_seconds')).toBe('0.0025');
    expect(await scrape()).toEqual(first);
  });

  it('takes one snapshot a scrape, a new one each time', async () => {
    createPrometheusMetrics(runtime, { register });
    await register.metrics();
    expect(reads).toBe(1);
    await register.getMetricsAsJSON();
    expect(reads).toBe(2);
  });

  it('shows waits as cumulative buckets in seconds', async () => {
    createPrometheusMetrics(runtime, { register });
    const hostWait = {
      count: 10,
      sumNs: 2.5e9,
      buckets: [
        { upperNs: 90_000, count: 4 },
        { upperNs: 100_000, count: 1 },
        { upperNs: 110_000, count: 2 },
        { upperNs: 4e9, count: 2 },
        { upperNs: Number.POSITIVE_INFINITY, count: 1 },
      ],
    };
    current = snapshotSample({ rpcs: [rpcSample('r', { hostWait })] });
    const lines = await scrape();
    const at = (le: string) => lines.get(`spillway_host_wait_seconds_bucket{rpc="r",le="${le}"}`);
    expect([at('0.0001'), at('0.00025'), at('2.5'), at('5'), at('500'), at('+Inf')]).toEqual([
      '5',
      '7',
      '7',
      '9',
      '9',
      '10',
    ]);
    expect(lines.get('spillway_host_wait_seconds_sum{rpc="r"}')).toBe('2.5');
    expect(lines.get('spillway_host_wait_seconds_count{rpc="r"}')).toBe('10');
    const text = await register.metrics();
    expect(text).toContain('# TYPE spillway_host_wait_seconds histogram');
  });

  it('bounds the tables that it shows, always the same ones, and adds up the rest', async () => {
    createPrometheusMetrics(runtime, { register, maxTableLabels: 2 });
    const limits = ['9', '1', '5', '7'].map((table, i) => ({
      rpc: i < 3 ? 'a' : 'b',
      table,
      qpsLimit: 10,
      currentQps: i,
      sinceMs: 0,
    }));
    current = snapshotSample({ limits, rpcs: [rpcSample('a'), rpcSample('b')] });
    const lines = await scrape();
    const shown = [...lines.keys()].filter((name) => name.startsWith('spillway_table_qps{'));
    expect(shown).toEqual([
      'spillway_table_qps{rpc="a",table="1"}',
      'spillway_table_qps{rpc="a",table="5"}',
    ]);
    expect(lines.get('spillway_tables_not_shown{rpc="a"}')).toBe('1');
    expect(lines.get('spillway_tables_not_shown{rpc="b"}')).toBe('1');
    expect(lines.get('spillway_tables_not_shown_qps_limit{rpc="a"}')).toBe('10');
    expect(lines.get('spillway_tables_not_shown_qps{rpc="b"}')).toBe('3');
  });

  it('forgets a table that is throttled no longer', async () => {
    createPrometheusMetrics(runtime, { register });
    current = snapshotSample({
      limits: [{ rpc: 'a', table: 't', qpsLimit: 1, currentQps: 1, sinceMs: 0 }],
    });
    expect((await scrape()).has('spillway_table_qps{rpc="a",table="t"}')).toBe(true);
    current = snapshotSample();
    expect((await scrape()).has('spillway_table_qps{rpc="a",table="t"}')).toBe(false);
  });

  it('lets no table name break out of its label', async () => {
    createPrometheusMetrics(runtime, { register });
    const table = 'x"} 1\nspillway_calls_total{rpc="\\"} 666\u0000\u2028é';
    current = snapshotSample({
      limits: [{ rpc: 'a', table, qpsLimit: 1, currentQps: 2, sinceMs: 0 }],
    });
    const text = await register.metrics();
    const line = text.split('\n').find((l) => l.startsWith('spillway_table_qps{')) ?? '';
    const [, label = ''] = /^spillway_table_qps\{rpc="a",table="(.*)"\} 2$/s.exec(line) ?? [];
    const unescaped = label.replace(/\\(.)/gs, (_, c) => (c === 'n' ? '\n' : c));
    expect(unescaped).toBe(labelValue(table));
    expect(text).not.toMatch(/^spillway_calls_total.* 666/m);
  });

  it('says what runs, since when, and since when a table is slowed', async () => {
    const limit = { rpc: 'a', table: 't', qpsLimit: 1, currentQps: 1, sinceMs: 1500 };
    current = snapshotSample({ atMs: 2000, limits: [limit] });
    const [before, backendId] = [Date.now(), 2n ** 60n];
    const source = { ...runtime, kernel: 'twin' as const, config: () => ({ backendId }) };
    createPrometheusMetrics(source, { register });
    const lines = await scrape();
    const started = Number(lines.get('spillway_start_time_seconds'));
    expect(started).toBeGreaterThanOrEqual(before / 1e3 - 2);
    expect(started).toBeLessThanOrEqual(Date.now() / 1e3 - 2);
    const since = 'spillway_table_throttled_timestamp_seconds{rpc="a",table="t"}';
    expect(Number(lines.get(since))).toBeCloseTo(started + 1.5, 6);
    const { version } = createRequire(import.meta.url)('../../package.json');
    const info = `version="${version}",kernel="twin",node="${process.versions.node}"`;
    expect(lines.get(`spillway_build_info{${info}}`)).toBe('1');
    expect(lines.get('spillway_backend_info{backend_id="1152921504606846976"}')).toBe('1');
    expect(await scrape()).toEqual(lines);
  });

  it('shows who waits for what', async () => {
    createPrometheusMetrics(runtime, { register });
    current = snapshotSample({ rpcs: [rpcSample('r', { waiting: { host: 3, table: 4 } })] });
    const lines = await scrape();
    expect(lines.get('spillway_waiting_calls{rpc="r",stage="host"}')).toBe('3');
    expect(lines.get('spillway_waiting_calls{rpc="r",stage="table"}')).toBe('4');
  });

  it('stays under its cap with 10,000 throttled tables, whatever they are called', async () => {
    createPrometheusMetrics(runtime, { register });
    const limits = Array.from({ length: 10_000 }, (_, i) => ({
      rpc: 'a',
      table: `${'"\\\n💥'.repeat(2000)}${i}`,
      qpsLimit: 1,
      currentQps: 2,
      sinceMs: 0,
    }));
    current = snapshotSample({ limits, rpcs: [rpcSample('a')] });
    const text = await register.metrics();
    const series = text.split('\n').filter((line) => line.includes('table="'));
    expect(series).toHaveLength(3 * 1000);
    expect(new Set(series.map((line) => line.slice(0, line.lastIndexOf(' ')))).size).toBe(3000);
    expect(text.split('\n')).toContain('spillway_tables_not_shown{rpc="a"} 9000');
    expect(text.split('\n')).toContain('spillway_tables_not_shown_qps{rpc="a"} 18000');
    // A line is bounded: its name, its RPC type, and at most 160 characters that may each be escaped.
    expect(Math.max(...series.map((line) => line.length))).toBeLessThan(500);
    expect(text.length).toBeLessThan(1_500_000);
  });

  it('speaks OpenMetrics', async () => {
    const open = new Registry();
    open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
    createPrometheusMetrics(runtime, { register: open });
    current = snapshotSample({ rpcs: [rpcSample('r', { calls: 2 })] });
    for (let scrapes = 0; scrapes < 2; scrapes += 1) {
      const text = await open.metrics();
      expect(text).toContain('# TYPE spillway_calls counter\nspillway_calls_total{rpc="r"} 2\n');
      expect(text.endsWith('# EOF\n')).toBe(true);
    }
  });

  it('can be put together for the processes of a cluster', async () => {
    const conservation = (ok: boolean) => ({ ...current.conservation, ok });
    const processes = [
      snapshotSample({ level: 2, rpcs: [rpcSample('a', { calls: 5, qpsLimit: 10 })] }),
      snapshotSample({
        level: 3,
        controlSilentMs: 9000,
        conservation: conservation(false),
        rpcs: [rpcSample('a', { calls: 7, qpsLimit: 10 })],
      }),
      snapshotSample({ rpcs: [rpcSample('a', { qpsLimit: 10 })] }),
    ];
    const each = processes.map(async (snapshot) => {
      const own = new Registry();
      createPrometheusMetrics({ snapshot: () => snapshot }, { register: own });
      return JSON.parse(JSON.stringify(await own.getMetricsAsJSON()));
    });
    register = AggregatorRegistry.aggregate(await Promise.all(each)) as Registry;
    const all = await scrape();
    expect(all.get('spillway_calls_total{rpc="a"}')).toBe('12');
    expect(all.get('spillway_host_qps_limit{rpc="a"}')).toBe('30');
    expect(all.get('spillway_conservation_ok')).toBe('0');
    expect(all.get('spillway_control_silent_seconds')).toBe('9');
    expect(all.get('spillway_throttle_level')).toBe('3');
    expect([...all].filter(([name]) => name.startsWith('spillway_build_info'))).toEqual([
      [expect.any(String), '1'],
    ]);
  });

  it('keeps showing the last snapshot of a runtime that is closed', async () => {
    current = snapshotSample({ threads: 7 });
    let closed = false;
    const closing = {
      snapshot() {
        if (closed) throw new Error('closed');
        return current;
      },
    };
    createPrometheusMetrics(closing, { register });
    expect((await scrape()).get('spillway_threads')).toBe('7');
    closed = true;
    expect((await scrape()).get('spillway_threads')).toBe('7');
  });

  it('is not reset with the register, and can be taken out of it', async () => {
    const metrics = createPrometheusMetrics(runtime, { register, prefix: 'x_' });
    register.resetMetrics();
    expect((await scrape()).get('x_threads')).toBe('1');
    metrics.unregister();
    expect(await scrape()).toEqual(new Map());
    createPrometheusMetrics(runtime, { register, prefix: 'x_' });
  });

  it('refuses names that are taken before it registers any', () => {
    createPrometheusMetrics(runtime, { register });
    expect(() => createPrometheusMetrics(runtime, { register })).toThrow('is registered already');
    createPrometheusMetrics(runtime, { register, prefix: 'other_' });
  });

  it.each([
    [{ prefix: '1x' }, TypeError],
    [{ prefix: 'a b' }, TypeError],
    [{ maxTableLabels: -1 }, RangeError],
    [{ maxTableLabels: Number.NaN }, RangeError],
  ])('refuses %j', (options, expected) => {
    expect(() => createPrometheusMetrics(runtime, { register, ...options })).toThrow(expected);
  });
});
