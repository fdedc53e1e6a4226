import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKvPrometheusMetrics } from '../../src/adapters/kv-prometheus.js';
import { createPrometheusMetrics } from '../../src/adapters/prometheus.js';
import { TableMeters } from '../../src/workers/kv/kv-meters.js';
import { rpcSample, snapshotSample } from '../adapters/snapshot-sample.js';
import { ALERT_CASES, type AlertCase, type Series } from './alert-cases.js';
import { promtool } from './promtool.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RULES = `${ROOT}docs/observability/spillway-alerts.yml`;
const text = readFileSync(RULES, 'utf8');
const blocks = text
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((block) => block.replace(/^ {2}- name:[\s\S]*/m, ''));
const alerts = [...text.matchAll(/^ {6}- alert: (\w+)$/gm)].map(([, name]) => name as string);

/** One unit test of promtool. JSON is YAML. */
const unitTest = (name: string, series: Series, firing: readonly [string, boolean][]) => ({
  name,
  interval: '1m',
  input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
  promql_expr_test: firing.map(([eval_time, fires]) => ({
    expr: `count(ALERTS{alertname="${name.split(':')[0]}",alertstate="firing"})`,
    eval_time,
    exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
  })),
});
const testsOf = ({ alert, fires, quiet }: AlertCase) => [
  // Not at once, and an hour later still.
  unitTest(`${alert}: fires`, fires, [
    ['0m', false],
    ['60m', true],
  ]),
  ...Object.entries(quiet).map(([what, series]) =>
    unitTest(
      `${alert}: ${what}`,
      series,
      ['0m', '50m', '60m', '61m', '70m'].map((at) => [at, false]),
    ),
  ),
];

describe('docs/observability/spillway-alerts.yml', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'spillway-alerts-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** Each alert with the rule of its own alone: all of them at every minute would take twenty times as long. */
  const run = (cases: Readonly<Record<string, readonly object[]>>) => {
    const files = Object.entries(cases).map(([alert, tests]) => {
      const rule = blocks[alerts.indexOf(alert)];
      writeFileSync(
        join(dir, `${alert}.yml`),
        `groups:\n  - name: one\n    rules:\n      - alert: ${rule}`,
      );
      const file = join(dir, `${alert}.test.yml`);
      const all = { rule_files: [`${alert}.yml`], evaluation_interval: '1m', tests };
      writeFileSync(file, JSON.stringify(all));
      return file;
    });
    return promtool(['test', 'rules', ...files]);
  };

  it('is what Prometheus takes', () => {
    const { code, output } = promtool(['check', 'rules', RULES]);
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringContaining(`SUCCESS: ${alerts.length} rules found`),
    });
  });

  it('is loaded by the configuration that the guide shows', () => {
    const guide = readFileSync(`${ROOT}docs/guide/prometheus.md`, 'utf8');
    const [, config = ''] = /```yaml\n([\s\S]*?)```/.exec(guide) ?? [];
    writeFileSync(join(dir, 'prometheus.yml'), config);
    writeFileSync(join(dir, 'spillway-alerts.yml'), text);
    const { code, output } = promtool(['check', 'config', join(dir, 'prometheus.yml')]);
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringContaining(`SUCCESS: ${alerts.length} rules found`),
    });
  });

  it('has cases for every alert', () => {
    expect(ALERT_CASES.map(({ alert }) => alert)).toEqual(alerts);
    for (const { alert, quiet } of ALERT_CASES)
      expect([alert, Object.keys(quiet).length]).not.toEqual([alert, 0]);
  });

  it('fires when it should, and not when it should not', () => {
    const cases = Object.fromEntries(ALERT_CASES.map((one) => [one.alert, testsOf(one)]));
    expect(run(cases)).toEqual({
      code: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  });

  it('has a guide that names metrics and options that exist', () => {
    const guide = readFileSync(`${ROOT}docs/guide/alerts.md`, 'utf8');
    const read = (file: string): string => readFileSync(`${ROOT}docs/reference/${file}.md`, 'utf8');
    const metrics = [...guide.matchAll(/`(spillway_\w+)/g)].map(([, name]) => name);
    expect(metrics.length).toBeGreaterThan(20);
    expect(metrics.filter((name) => !read('metrics').includes(`| \`${name}\` |`))).toEqual([]);
    const groups = /`((?:host|tables|waiting|retry|peers|breaker|capacity)\.\w+)/g;
    const options = [...guide.matchAll(groups)].map(([, name]) => name);
    expect(options.length).toBeGreaterThan(10);
    expect(options.filter((name) => !read('options').includes(`| \`${name}\` |`))).toEqual([]);
  });

  it('is tested by what can fail', () => {
    const [first] = ALERT_CASES;
    const wrong = unitTest(`${first?.alert}: wrong`, first?.fires ?? {}, [['60m', false]]);
    expect(run({ [first?.alert ?? '']: [wrong] })).toMatchObject({ code: 1 });
  });

  it('tells who is paged what, with figures', () => {
    const series = {
      'spillway_busy_total{instance="a:1",job="s",rpc="commit_rowset"}': '0+6x120',
      'spillway_calls_total{instance="a:1",job="s",rpc="commit_rowset"}': '0+60x120',
    };
    const test = {
      ...unitTest('SpillwayBusy: text', series, []),
      alert_rule_test: [
        {
          eval_time: '60m',
          alertname: 'SpillwayBusy',
          exp_alerts: [
            {
              exp_labels: { severity: 'warning', instance: 'a:1', job: 's', rpc: 'commit_rowset' },
              exp_annotations: {
                summary: 'commit_rowset of a:1 is answered with BUSY',
                description: '10% of the attempts of the last 5 minutes.',
                runbook: 'docs/guide/alerts.md#spillwaybusy',
              },
            },
          ],
        },
      ],
    };
    const { code, output } = run({ SpillwayBusy: [test] });
    expect(output).toContain('SUCCESS');
    expect(code).toBe(0);
  });

  it('gives every alert a duration, a severity, texts and a section of the guide', () => {
    const guide = readFileSync(`${ROOT}docs/guide/alerts.md`, 'utf8');
    const sections = new Map(
      guide
        .split(/^### /m)
        .slice(1)
        .map((section) => [section.split('\n')[0], section]),
    );
    expect([...sections.keys()]).toEqual(alerts);
    for (const [i, block] of blocks.entries()) {
      const alert = alerts[i] ?? '';
      expect(block).toMatch(/^ {8}for: [1-9]\d*m$/m);
      expect(block).toMatch(/^ {10}severity: (info|warning|critical)$/m);
      expect(block).toMatch(/^ {10}summary: ".+"$/m);
      expect(block).toMatch(/^ {10}description: >-\n {12}\S/m);
      expect(block).toContain(`runbook: docs/guide/alerts.md#${alert.toLowerCase()}\n`);
      for (const part of ['**Means**', '**Look**', '**Do**'])
        expect([alert, sections.get(alert)]).toEqual([alert, expect.stringContaining(part)]);
    }
  });
});

it('shows metrics that promtool has nothing to say about', async () => {
  const register = new Registry();
  const limit = { rpc: 'r', table: 'a"\\\n\u0000\ud800💥', qpsLimit: 1, currentQps: 1, sinceMs: 0 };
  const hostWait = { count: 1, sumNs: 2e6, buckets: [{ upperNs: 2.2e6, count: 1 }] };
  const snapshot = snapshotSample({ limits: [limit], rpcs: [rpcSample('r', { hostWait })] });
  const config = () => ({ backendId: 7 });
  createPrometheusMetrics({ snapshot: () => snapshot, kernel: 'wasm', config }, { register });
  const meters = new TableMeters('orders');
  meters.tablet(0).flushed(3, 2);
  const source = {
    stats: () => ({ tables: [meters.stats()], logBytes: 1 }),
    stalledMs: async () => ({ orders: 0 }),
  };
  createKvPrometheusMetrics(source, { register });
  const scrape = await register.metrics();
  expect(promtool(['check', 'metrics'], scrape)).toEqual({ code: 0, output: '' });
  // It is not silent about everything.
  const bad = '# TYPE callsTotal counter\ncallsTotal 1\n';
  expect(promtool(['check', 'metrics'], bad).code).not.toBe(0);
});
