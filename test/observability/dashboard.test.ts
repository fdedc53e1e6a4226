import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboard, dashboardQueries } from './dashboard-queries.js';

const read = (file: string): string =>
  readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8');
const NAMES = [...read('reference/metrics.md').matchAll(/^\| `(spillway_\w+)` \| (\w+)/gm)];
const known = new Set(
  NAMES.flatMap(([, name = '', type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
  ),
);
const used = (text: string): string[] => text.match(/\bspillway_\w+/g) ?? [];
const shown = dashboard.panels.filter(({ type }) => type !== 'row');

describe('docs/observability/spillway-dashboard.json', () => {
  it('asks for metrics that exist, and so do the alerts', () => {
    const rules = [...read('observability/spillway-alerts.yml').matchAll(/expr: \|-\n(.*)$/gm)];
    const asked = [...dashboardQueries().map(({ expr }) => expr), ...rules.map(([, e]) => e ?? '')];
    expect(rules.length).toBeGreaterThan(20);
    expect(asked.flatMap(used).filter((name) => !known.has(name))).toEqual([]);
  });

  it('has every metric on a panel', () => {
    const asked = new Set(dashboardQueries().flatMap(({ expr }) => used(expr)));
    const bases = NAMES.map(([, name = '']) => name);
    const missing = bases.filter((name) => !asked.has(name) && !asked.has(`${name}_bucket`));
    expect(missing).toEqual([]);
  });

  it('leaves the data source, the instance and the RPC type to who looks', () => {
    const list = dashboard.templating.list.map(({ name, type }) => [name, type]);
    expect(list).toEqual([
      ['datasource', 'datasource'],
      ['instance', 'query'],
      ['rpc', 'query'],
    ]);
    const own = { type: 'prometheus', uid: `\${datasource}` };
    for (const { targets = [], datasource } of shown) {
      expect(datasource).toEqual(own);
      for (const target of targets) {
        expect(target.datasource).toEqual(own);
        expect(target.expr).toMatch(/instance=~"\$instance"/);
      }
    }
  });

  it('says of every panel what it shows, in which unit, with legends', () => {
    for (const { title, type, description = '', fieldConfig, targets = [] } of shown) {
      expect([title, description.length > 10]).toEqual([title, true]);
      expect([title, targets.length > 0]).toEqual([title, true]);
      if (type === 'table') continue;
      expect([title, fieldConfig?.defaults.unit]).toEqual([title, expect.stringMatching(/\w/)]);
      for (const { legendFormat } of targets)
        expect([title, legendFormat]).toEqual([title, expect.stringMatching(/\S/)]);
    }
  });

  it('gives what is no rate another axis than rates, and bytes one of their own', () => {
    for (const { title, fieldConfig, targets = [] } of shown) {
      const own = new Set(fieldConfig?.overrides?.map(({ matcher }) => matcher.options));
      const { unit = '' } = fieldConfig?.defaults ?? {};
      const isRate = /^(reqps|ops|wps|Bps)$/.test(unit);
      for (const { refId, expr } of targets) {
        if (own.has(refId)) continue;
        if (isRate) expect([title, expr]).toEqual([title, expect.stringMatching(/rate\(|_qps/)]);
        if (/_bytes/.test(expr))
          expect([title, expr, unit]).toEqual([
            title,
            expr,
            expect.stringMatching(/^bytes$|^Bps$/),
          ]);
      }
    }
  });

  it('adds up limits where it adds up what they limit', () => {
    const [granted, limit] =
      shown.find(({ title }) => title === 'Permits and limit')?.targets ?? [];
    expect(granted?.expr).toMatch(/^sum by \(rpc\) \(rate\(spillway_permits_granted_total/);
    expect(limit?.expr).toMatch(/^sum by \(rpc\) \(spillway_host_qps_limit/);
  });

  it('has panels that do not overlap, with ids of their own, in rows', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    expect(rows).toEqual([
      'Overview',
      'Throttling of tables',
      'Host-level limits',
      'Circuits',
      'Calls and retries',
      'Reads from peers',
      'Storage pressure',
      'Runtime health',
    ]);
    const taken = new Map<string, string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect([title, taken.get(`${x} ${y}`)]).toEqual([title, undefined]);
          taken.set(`${x} ${y}`, title);
        }
      }
    }
  });
});
