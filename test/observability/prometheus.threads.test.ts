import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labelValue } from '../../src/adapters/prometheus/label-value.js';
import { pause } from '../threads/until.js';
import { dashboard, dashboardQueries, substitute } from './dashboard-queries.js';
import { promtool } from './promtool.js';
import { type RealPrometheus, startPrometheus } from './real-prometheus.js';

const RULES = fileURLToPath(
  new URL('../../docs/observability/spillway-alerts.yml', import.meta.url),
);
/** For what only has to happen some time. */
const PATIENCE_MS = 60_000;
const TABLES = [
  '10086',
  'quotes "\' and \\ and {}',
  'x"} 1\nspillway_calls_total{rpc="get_rowset"} 666',
  '<script>alert(1)</script>',
  'NUL \u0000 and \u001b[31m',
  'emoji 💥, Größe',
  'lone \ud800',
  'lone \ud801',
  `${'long '.repeat(25)}1`,
];

/** The runtime itself keeps a prefix and a hash of these. */
const LONG_TABLES = ['1', '2'].map((end) => 'x'.repeat(10_240) + end);
const LONG_SHOWN = /^x{112}~[0-9a-f]{32}$/;

let dir: string;
let backend: ChildProcess;
let prometheus: RealPrometheus;
let target: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'spillway-prometheus-'));
  const entry = fileURLToPath(new URL('./loaded-backend.mjs', import.meta.url));
  // JSON.stringify escapes lone surrogates, so that they survive the way.
  backend = spawn(
    process.execPath,
    [entry, join(dir, 'store'), JSON.stringify([...TABLES, ...LONG_TABLES])],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const port = await Promise.race([
    once(backend.stdout as NodeJS.ReadableStream, 'data').then(([text]) => Number(String(text))),
    once(backend, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`))),
  ]);
  target = `127.0.0.1:${port}`;
  prometheus = await startPrometheus({ dir, target, rules: RULES });
}, 60_000);

afterAll(async () => {
  await prometheus?.stop();
  if (backend?.exitCode === null) {
    backend.stdin?.end();
    await once(backend, 'exit');
  }
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

/** Looks again until nothing is missing; what is missing at the end. */
async function waitFor(missing: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const left = await missing();
    if (left.length === 0 || performance.now() > deadline) return left;
    await pause(250);
  }
}

async function withoutData(queries: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(queries.map((query) => prometheus.query(query)));
  return queries.filter((_, i) => answers[i]?.length === 0);
}

describe('a real Prometheus', { timeout: PATIENCE_MS * 2 }, () => {
  it('has data for every query of the dashboard', async () => {
    const queries = dashboardQueries().map(({ expr }) => expr);
    expect(queries.length).toBeGreaterThan(80);
    expect(await waitFor(() => withoutData(queries))).toEqual([]);
  });

  it('has answers to what the guide asks', async () => {
    const guide = readFileSync(new URL('../../docs/guide/prometheus.md', import.meta.url), 'utf8');
    const [, block = ''] = /```promql\n([\s\S]*?)```/.exec(guide) ?? [];
    const queries = block.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(queries).toHaveLength(4);
    expect(await waitFor(() => withoutData(queries))).toEqual([]);
  });

  it('knows the values of the variables', async () => {
    for (const { name, type, query } of dashboard.templating.list) {
      if (type !== 'query' || typeof query === 'string') continue;
      const [, selector = '', label] = /^label_values\((.*), (\w+)\)$/.exec(query.query) ?? [];
      const { data } = await prometheus.ask(`label/${label}/values`, {
        'match[]': substitute(selector),
      });
      expect([name, data]).toEqual([
        name,
        name === 'rpc'
          ? ['commit_rowset', 'get_rowset']
          : [expect.stringMatching(/^127\.0\.0\.1:\d+$/)],
      ]);
    }
  });

  it('evaluates every rule, and fires none that says that Spillway is broken', async () => {
    interface Rule {
      readonly name: string;
      readonly health: string;
      readonly state: string;
      readonly lastError?: string;
    }
    const rules = async (): Promise<readonly Rule[]> => {
      const { data } = await prometheus.ask('rules');
      return (data as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
    };
    const left = await waitFor(async () =>
      (await rules()).filter(({ health }) => health === 'unknown').map(({ name }) => name),
    );
    expect(left).toEqual([]);
    const all = await rules();
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter(({ health, lastError }) => health !== 'ok' || lastError)).toEqual([]);
    // What the load does must show, as pending at least.
    const away = async (): Promise<string[]> => {
      const now = new Map((await rules()).map(({ name, state }) => [name, state]));
      const expected = [
        'SpillwayTablesThrottled',
        'SpillwayBusy',
        'SpillwayCallsRefused',
        'SpillwayCircuitOpen',
        'SpillwayDeadlinesExceeded',
        'SpillwayBucketsHeldBack',
      ];
      return expected.filter((name) => now.get(name) === 'inactive');
    };
    expect(await waitFor(away)).toEqual([]);
    // A scrape that a stalled machine misses shows for a moment.
    const broken = /Missing|Unaccounted|Silent|Restarts|Actors|Overflows|Untracked|Stalls/;
    const wrong = async (): Promise<string[]> =>
      (await rules())
        .filter(({ name, state }) => broken.test(name) && state !== 'inactive')
        .map(({ name }) => name);
    expect((await rules()).filter(({ name }) => broken.test(name)).length).toBeGreaterThan(5);
    expect(await waitFor(wrong)).toEqual([]);
  });

  it('keeps hostile names apart, and nothing else of what they say', async () => {
    const expected = TABLES.map(labelValue);
    expect(new Set(expected).size).toBe(TABLES.length);
    const different = async (): Promise<string[]> => {
      const samples = await prometheus.query('spillway_table_qps_limit');
      const all = samples.map(({ metric }) => metric['table'] ?? '');
      const shown = all.filter((name) => !LONG_SHOWN.test(name));
      const long = new Set(all.filter((name) => LONG_SHOWN.test(name)));
      return [
        ...(long.size === LONG_TABLES.length ? [] : [`${long.size} long names`]),
        ...expected.filter((name) => !shown.includes(name)).map((name) => `- ${name}`),
        ...shown.filter((name) => !expected.includes(name)).map((name) => `+ ${name}`),
        ...(shown.length > expected.length ? [`${shown.length} series`] : []),
      ];
    };
    expect(await waitFor(different)).toEqual([]);
    // A line of its own in between would be a jump there and back.
    const [resets] = await prometheus.query('max(resets(spillway_calls_total[10m]))');
    expect(resets?.value[1]).toBe('0');
    const address = 'unix:/run/"a"{b}\\c.sock';
    const closed = async (): Promise<string[]> => {
      const states = await prometheus.query('spillway_circuit_state == 2');
      return states.some(({ metric }) => metric['address'] === address) ? [] : [address];
    };
    expect(await waitFor(closed)).toEqual([]);
  });

  it('has nothing to say about the form of a scrape', async () => {
    const scrape = await (await fetch(`http://${target}/metrics`)).text();
    for (const name of ['spillway_build_info', 'spillway_kv_log_bytes', 'spillway_kv_writer_given'])
      expect(scrape).toContain(`\n# HELP ${name}`);
    expect(promtool(['check', 'metrics'], scrape)).toEqual({ code: 0, output: '' });
  });

  it('scrapes without a fault', async () => {
    const faults = async (): Promise<string[]> => {
      const { data } = await prometheus.ask('targets');
      const { activeTargets } = data as { activeTargets: { health: string; lastError: string }[] };
      expect(activeTargets).toHaveLength(1);
      return activeTargets
        .filter(({ health }) => health !== 'up')
        .map(({ lastError }) => lastError);
    };
    expect(await waitFor(faults)).toEqual([]);
    // A duplicate series would be dropped.
    const [dropped] = await prometheus.query(
      'scrape_samples_scraped - scrape_samples_post_metric_relabeling',
    );
    expect(dropped?.value[1]).toBe('0');
    const duplicates = 'prometheus_target_scrapes_sample_duplicate_timestamp_total';
    expect(await prometheus.query(`${duplicates} > 0`)).toEqual([]);
  });
});
