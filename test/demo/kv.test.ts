import { describe, expect, it } from 'vitest';
import { parseKvDemoOptions } from '../../demo/kv/kv-options.js';
import { renderKvPage } from '../../demo/kv/kv-page.js';
import {
  compareKvGoals,
  findKvFaults,
  type KvFigures,
  summariseKv,
} from '../../demo/kv/kv-report.js';
import { createKvScenario, duePuts } from '../../demo/kv/kv-scenario.js';
import { isLost, PutLedger } from '../../demo/kv/put-ledger.js';
import type { KvRun } from '../../demo/kv/run-kv.js';
import { VersionedValues } from '../../demo/kv/versioned-values.js';
import type { WriteResult } from '../../demo/kv/write-thread.js';

const scenario = createKvScenario(parseKvDemoOptions([]));

describe('parseKvDemoOptions', () => {
  it('has the defaults of the guide', () => {
    expect(parseKvDemoOptions([])).toEqual({
      seconds: 40,
      jsonFile: undefined,
      quiet: false,
      help: false,
    });
  });

  it.each([
    ['--seconds 3', "--seconds must be a number from 4 to 3600, got '3'"],
    ['--seconds NaN', "--seconds must be a number from 4 to 3600, got 'NaN'"],
    ['--seconds=', "--seconds must be a number from 4 to 3600, got ''"],
    ['--json=', "--json must be the path of a file, got ''"],
    ['--nope', "Unknown option '--nope'"],
    ['7', "Unexpected argument '7'"],
  ])('refuses %s', (args, message) => {
    expect(() => parseKvDemoOptions(args.split(' '))).toThrow(message);
  });
});

describe('the load', () => {
  const { durationMs, threads, calmEveryMs } = scenario;
  const puts = (bucket: number, nowMs: number) =>
    Array.from({ length: threads }, (_, thread) => duePuts(scenario, thread, bucket, nowMs)).reduce(
      (sum, due) => sum + due,
      0,
    );

  it('floods the hot buckets evenly, and adds up to what it says', () => {
    const perMs = scenario.hotBytesPerSecond / scenario.hotValueBytes / 1000;
    for (const bucket of [0, 1]) {
      for (const ms of [durationMs / 7, durationMs / 2, durationMs]) {
        expect(Math.abs(puts(bucket, ms) - ms * perMs)).toBeLessThan(threads);
      }
    }
  });

  it('is steady in the calm buckets', () => {
    for (const nowMs of [1000, 5000, durationMs]) {
      expect(Math.abs(puts(7, nowMs) - (nowMs / calmEveryMs) * threads)).toBeLessThan(threads);
    }
  });

  it('never takes back a put', () => {
    let before = 0;
    for (let nowMs = 0; nowMs <= durationMs; nowMs += 7) {
      const due = duePuts(scenario, 3, 1, nowMs);
      expect(due).toBeGreaterThanOrEqual(before);
      before = due;
    }
  });
});

describe('values with a version', () => {
  const values = new VersionedValues(1, 2);

  it('are told apart by key, version, thread and seed, and by every byte', () => {
    const value = values.value(7, 3, 4096);
    expect(values.versionOf(value, 7)).toBe(3);
    expect(values.versionOf(value, 8)).toBeUndefined();
    expect(new VersionedValues(1, 3).versionOf(value, 7)).toBeUndefined();
    expect(new VersionedValues(2, 2).versionOf(value, 7)).toBeUndefined();
    value[4000] = (value[4000] as number) ^ 1;
    expect(values.versionOf(value, 7)).toBeUndefined();
    expect(values.versionOf(new Uint8Array(3), 7)).toBeUndefined();
  });

  it('have keys of their own', () => {
    const keys = Array.from({ length: 5000 }, (_, id) => values.key(id).toString('hex'));
    expect(new Set(keys)).toHaveLength(5000);
    expect(keys.slice().sort()).not.toEqual(keys);
    expect(keys).not.toContain(new VersionedValues(1, 1).key(7).toString('hex'));
  });
});

describe('the ledger', () => {
  it('knows the newest version that was acknowledged, and the newest that was sent', () => {
    const ledger = new PutLedger(4);
    expect([ledger.send(1), ledger.send(1), ledger.send(2), ledger.send(1)]).toEqual([1, 2, 1, 3]);
    ledger.acknowledge(1, 2);
    ledger.acknowledge(1, 1);
    expect(ledger.page()).toEqual({ bucket: 4, ids: [1, 2], acknowledged: [2, 0], sent: [3, 1] });
  });

  it.each([
    [2, 3, 2, false],
    [2, 3, 3, false],
    [2, 3, 1, true],
    [2, 3, undefined, true],
    [2, 3, 4, true],
    [0, 1, undefined, false],
  ])('acknowledged %s, sent %s, found %s: lost %s', (acknowledged, sent, found, lost) => {
    expect(isLost(acknowledged, sent, found)).toBe(lost);
  });
});

describe('the report', () => {
  const thread = (parts: Partial<WriteResult> = {}): WriteResult => ({
    hotOffered: 110,
    hotShed: 10,
    hotSettled: 100,
    hotAcknowledged: 100,
    calmOffered: 3,
    failed: 0,
    failure: undefined,
    calmAtMs: [10, 600, 700],
    calmTookMs: [1, 2, 30],
    pages: [],
    ...parts,
  });
  const run = (parts: Partial<KvRun> = {}, own: Partial<WriteResult> = {}): KvRun => ({
    samples: [
      { atMs: 100, l0Files: 4, pendingBytes: 1e6, hot: 10, calm: 1 },
      { atMs: 900, l0Files: 9, pendingBytes: 2e6, hot: 100, calm: 3 },
    ],
    server: { stallMs: 0, loopP99Ms: 3.21, refusals: 2 },
    threads: [thread(own), thread()],
    readBack: { keys: 20, lost: 0 },
    ...parts,
  });
  const level = (l0Files: number) => ({
    samples: [{ atMs: 100, l0Files, pendingBytes: 0, hot: 1, calm: 1 }],
  });

  it('says what was measured', () => {
    expect(summariseKv(run(), scenario)).toEqual({
      maxL0: 9,
      stallMs: 0,
      loopP99Ms: 3.2,
      calmP50Ms: 2,
      calmP99Ms: 30,
      hotMBps: 0.04,
      refusals: 2,
      lost: 0,
    } satisfies KvFigures);
  });

  it('finds nothing wrong where all adds up', () => {
    expect(findKvFaults(run(), scenario, true)).toEqual([]);
    const stalled = run({ ...level(30), server: { ...run().server, stallMs: 5000 } });
    expect(findKvFaults(stalled, scenario, false)).toEqual([]);
  });

  it.each<[string, KvRun]>([
    ['1 of 20 acknowledged keys were lost', run({ readBack: { keys: 20, lost: 1 } })],
    ['nothing was read back', run({ readBack: { keys: 0, lost: 0 } })],
    ['the engine stalled for 1 ms', run({ server: { ...run().server, stallMs: 1 } })],
    ['level 0 had 20 files', run(level(20))],
    ['1 puts failed: Error: x', run({}, { failed: 1, failure: 'Error: x' })],
    ['6 puts into calm buckets, but 5 acknowledged', run({}, { calmTookMs: [1, 2] })],
    ['219 puts into hot buckets, but 220', run({}, { hotOffered: 109 })],
    [
      'nothing was acknowledged of the hot',
      { ...run(), threads: [thread({ hotAcknowledged: 0 })] },
    ],
  ])('finds: %s', (fault, wrong) => {
    expect(findKvFaults(wrong, scenario, true).join()).toContain(fault);
  });

  it('shows whether its goals were met', () => {
    const held = summariseKv(run(), scenario);
    const without = { ...held, maxL0: 25, stallMs: 900, loopP99Ms: 30, calmP99Ms: 100 };
    const missed = (report: { without: KvFigures; with: KvFigures }) =>
      compareKvGoals(report).flatMap(({ what, met }) => (met ? [] : [what]));
    expect(missed({ without, with: held })).toEqual([]);
    expect(missed({ without: held, with: { ...without, hotMBps: 0, lost: 1 } })).toEqual([
      'most level-0 files, without',
      'most level-0 files, with',
      'engine stalls, with',
      'event loop p99, with',
      'calm p99, with / without',
      'hot MB/s, with / without',
      'acknowledged and lost, both',
    ]);
  });

  it('is a page that needs nothing else', () => {
    const figures = summariseKv(run(), scenario);
    const report = { without: figures, with: figures };
    const page = renderKvPage({ scenario, report, without: run(), held: run() });
    expect(page.match(/<figure class="chart">/g)).toHaveLength(4);
    expect(page).not.toMatch(/<script|https?:|NaN|undefined/);
  });
});
