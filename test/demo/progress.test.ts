import { describe, expect, it } from 'vitest';
import { parseDemoOptions } from '../../demo/options.js';
import { viewProgress } from '../../demo/progress/progress.js';
import { renderFrame, renderLine } from '../../demo/progress/render-progress.js';
import { createScenario } from '../../demo/scenario.js';

const scenario = createScenario(parseDemoOptions([]));
const view = viewProgress(
  'with Spillway',
  scenario,
  { atMs: 9000, busy: 100, ok: 900, hotSent: [500, 200], hotArrived: [0, 0], coldSent: 0 },
  { atMs: 10_000, busy: 107, ok: 1200, hotSent: [620, 280], hotArrived: [0, 0], coldSent: 0 },
  {
    atMs: 9900,
    level: 2,
    limits: [
      { rpc: 'prepare_rowset', table: '10001', qpsLimit: 60.25 },
      { rpc: 'commit_rowset', table: '10001', qpsLimit: 60 },
    ],
  },
);

describe('viewProgress', () => {
  it('gives rates between two samples, and the limit of a table over its RPC types', () => {
    expect(view).toMatchObject({
      phase: 'flood',
      busyPerSecond: 7,
      okPerSecond: 300,
      level: 2,
      hot: [
        { table: '10001', qps: 120, limit: 120.25, level: 2 },
        { table: '10002', qps: 80, limit: undefined, level: 0 },
      ],
    });
  });
});

describe('renderFrame', () => {
  it('is a bar and a small table', () => {
    expect(renderFrame(view)).toEqual([
      'with Spillway    ███████████████░░░░░░░░░░░░░░░ 10.0 of 20.0 s  flood',
      '    300 ok/s       7 BUSY/s',
      '  hot table      qps    limit  level',
      '  10001          120    120.3      2',
      '  10002           80     none      0',
    ]);
  });
});

describe('renderLine', () => {
  it('says the same on one line', () => {
    expect(renderLine(view)).toBe(
      'with Spillway: 10.0 of 20.0 s, flood; 300 ok/s, 7 BUSY/s, level 2; 10001: 120 qps, limit 120.3; 10002: 80 qps, limit none',
    );
  });
});
