import { describe, expect, it } from 'vitest';
import { parseDemoOptions } from '../../demo/options.js';
import { percentile } from '../../demo/report/figures.js';
import { escapeHtml, niceStep, renderLineChart } from '../../demo/report/line-chart.js';
import { compareWithGoals, type Report, summarise } from '../../demo/report/report.js';
import { renderReportPage } from '../../demo/report/report-page.js';
import { renderReportTable } from '../../demo/report/report-table.js';
import { findDiscrepancies } from '../../demo/run/account-check.js';
import type { RunRecord } from '../../demo/run/run-record.js';
import { createScenario } from '../../demo/scenario.js';

const run: RunRecord = {
  durationMs: 20_000,
  sent: 1150,
  busy: 150,
  unanswered: 0,
  cold: { arrived: 600, ok: 594, failed: 6, heldBack: 0, shed: 0 },
  hot: { arrived: 800, ok: 406, failed: 394, heldBack: 300, shed: 1 },
  coldLatenciesMs: Array.from({ length: 100 }, (_, index) => 100 - index),
  hotLatenciesMs: [],
  samples: [
    { atMs: 100, busy: 0, ok: 10, hotSent: [3, 2], hotArrived: [3, 2], coldSent: 5 },
    { atMs: 200, busy: 5, ok: 15, hotSent: [6, 4], hotArrived: [9, 6], coldSent: 9 },
  ],
  service: { accepted: 1000, refused: 150, storedChanges: 1000, cpuMs: 0 },
};

describe('percentile', () => {
  it('is the nearest rank of unsorted values', () => {
    expect(percentile([5, 1, 4, 2, 3], 0.5)).toBe(3);
    expect(percentile([10, 9], 0.99)).toBe(10);
    expect(percentile([7], 0)).toBe(7);
    expect(percentile([], 0.5)).toBe(0);
  });
});

describe('summarise', () => {
  it('has exactly the figures of the JSON format', () => {
    expect(summarise(run)).toEqual({
      offeredPerSecond: 70,
      okPerSecond: 50,
      busyReplies: 150,
      coldOkRatio: 0.99,
      coldP50Ms: 50,
      coldP99Ms: 99,
      hotOkPerSecond: 20.3,
    });
  });
});

describe('compareWithGoals', () => {
  const figures = summarise(run);
  const report = (change: Partial<Report>): Report => ({
    without: { ...figures, busyReplies: 1500, okPerSecond: 40, coldP99Ms: 400 },
    with: figures,
    timeline: [],
    limitsLeft: 0,
    ...change,
  });

  it('meets them all', () => {
    expect(compareWithGoals(report({})).map(({ met }) => met)).toEqual(Array(5).fill(true));
  });

  it('misses each of them', () => {
    const goals = compareWithGoals(
      report({
        without: { ...figures, coldOkRatio: 1 },
        with: { ...figures, coldOkRatio: 0.9 },
        limitsLeft: 1,
      }),
    );
    expect(goals.map(({ met }) => met)).toEqual(Array(5).fill(false));
  });

  it('stands in the table beside both columns', () => {
    const text = renderReportTable(report({}));
    expect(text).toMatch(/BUSY replies +1500 +150\n/);
    expect(text).toMatch(/total ok\/s, with \/ without +1\.25 {2}at least 1\.2: met/);
  });
});

describe('findDiscrepancies', () => {
  it('finds nothing in books that agree', () => {
    expect(findDiscrepancies('with', run)).toEqual([]);
  });

  it.each([
    [
      'a lost update',
      { service: { ...run.service, storedChanges: 999 } },
      "changes in the service's store",
    ],
    [
      'an attempt that nobody saw',
      { sent: 1151 },
      'calls that the service saw: 1150, it should be 1151',
    ],
    ['a call without an end', { cold: { ...run.cold, failed: 5 } }, 'calls that ended'],
    ['a refusal that was not one', { busy: 149 }, 'refusals by the service'],
    ['a good answer to nothing', { hot: { ...run.hot, ok: 407, failed: 393 } }, 'service accepted'],
  ])('finds %s', (_name, change, text) => {
    expect(findDiscrepancies('with', { ...run, ...change })[0]).toContain(text);
  });
});

describe('findDiscrepancies, where attempts have no answer', () => {
  it('leaves open whether the service did them, and no more', () => {
    const lost = { ...run, sent: 1152, unanswered: 2 };
    expect(findDiscrepancies('with', lost)).toEqual([]);
    expect(
      findDiscrepancies('with', { ...lost, service: { ...run.service, refused: 152 } }),
    ).toEqual([]);
    expect(findDiscrepancies('with', { ...lost, sent: 1153 })).toHaveLength(1);
  });
});

describe('niceStep', () => {
  it.each([
    [0.3, 0.5],
    [1, 1],
    [1.1, 2],
    [4, 5],
    [60, 100],
    [1000, 1000],
  ])('makes %d into %d', (raw, step) => {
    expect(niceStep(raw)).toBeCloseTo(step, 12);
  });
});

describe('renderLineChart', () => {
  it('breaks a line where it has no value and holds steps', () => {
    const chart = renderLineChart({
      title: 'a < b',
      unit: 'QPS',
      endMs: 1000,
      flood: [250, 750],
      series: [
        {
          label: 'limit',
          tone: 'limit',
          steps: true,
          points: [
            [0, undefined],
            [500, 10],
            [750, undefined],
            [900, 5],
          ],
        },
      ],
    });
    expect(chart).toContain('a &lt; b');
    expect(chart).toMatch(/class="line limit" d="M247 [\d.]+H348\.5M409\.4 [\d.]+H450"/);
  });

  it('escapes what stands in HTML', () => {
    expect(escapeHtml('<&">')).toBe('&lt;&amp;&quot;&gt;');
  });
});

describe('renderReportPage', () => {
  it('stands alone: no script, no link, nothing from elsewhere', () => {
    const figures = summarise(run);
    const page = renderReportPage({
      scenario: createScenario(parseDemoOptions([])),
      report: {
        without: figures,
        with: figures,
        timeline: [
          { atMs: 0, level: 0, limits: [] },
          { atMs: 150, level: 1, limits: [{ rpc: 'commit_rowset', table: '10001', qpsLimit: 9 }] },
        ],
        limitsLeft: 0,
      },
      without: run,
      held: run,
    });
    expect(page).not.toMatch(/<script|<link|https?:|url\(|@import|NaN|undefined/);
    expect(page.match(/<svg/g)).toHaveLength(6);
    expect(page).toContain('prefers-color-scheme: dark');
    expect(page).toContain('width=device-width');
  });
});
