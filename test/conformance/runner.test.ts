import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runPaths } from '../../conformance/runner/run-paths.mjs';
import { createSuites } from '../../conformance/suites/create-suites.mjs';
import { subjectFromSource } from './subject-from-source.js';

const suites = createSuites(subjectFromSource);
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-vectors-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function run(...paths: string[]): { code: number; lines: string[] } {
  const lines: string[] = [];
  const code = runPaths(paths, suites, (line) => lines.push(line));
  return { code, lines };
}

const params = { upgradeCooldownTicks: 5, downgradeAfterTicks: 5 };
const good = { name: 'good', params, steps: [{ op: 'busy', expect: { upgrade: true } }] };
const bad = {
  name: 'bad',
  params,
  steps: [{ op: 'tick' }, { op: 'busy', expect: { upgrade: false } }],
};

function coordinator(...cases: unknown[]): unknown {
  return { suite: 'throttle-coordinator', about: 'a test', cases };
}

describe('the runner', () => {
  it('counts what passed and ends with a line that says so', () => {
    expect(run(write('a.json', coordinator(good, good)))).toEqual({
      code: 0,
      lines: ['2 passed, 0 failed'],
    });
  });

  it('prints each failing case with its step, what was expected and what came', () => {
    const { code, lines } = run(write('a.json', coordinator(good, bad)));
    expect(code).toBe(1);
    expect(lines).toEqual([
      [
        'FAILED throttle-coordinator (pure): bad',
        '  step 1: {"op":"busy"}',
        '  expected {"upgrade":false}',
        '  got      {"upgrade":true}',
        '  at       result.upgrade',
      ].join('\n'),
      '1 passed, 1 failed',
    ]);
  });

  it('takes directories for all of their vector files, and several paths at once', () => {
    write('b.json', coordinator(good));
    write('notes.md', 'no vectors');
    mkdirSync(join(folder, 'inner'));
    const other = write('inner/c.json', coordinator(good));
    expect(run(folder, other)).toEqual({ code: 0, lines: ['2 passed, 0 failed'] });
  });

  it('counts a case once per backend', () => {
    const bucket = {
      suite: 'token-bucket',
      cases: [{ name: 'one', params: { qps: 1, burst: 1 }, steps: [{ op: 'available', at: 0 }] }],
    };
    expect(run(write('bucket.json', bucket)).lines).toEqual(['2 passed, 0 failed']);
  });

  it.each([
    ['that is not there', undefined, 'cannot be read'],
    ['that is no JSON', '{"suite"', 'cannot be read'],
    ['without cases', { suite: 'throttle-coordinator' }, 'has no cases'],
    ['without a suite', { cases: [] }, 'has no suite'],
    ['of an unknown suite', { suite: 'juggling', cases: [] }, "is of the suite 'juggling'"],
    [
      'with an unknown op',
      coordinator({ ...good, steps: [{ op: 'explode' }] }),
      "has the op 'explode'",
    ],
    ['with a step without an op', coordinator({ ...good, steps: [{}] }), 'has no op in step 0'],
    ['with an odd tolerance', coordinator({ ...good, tol: '5' }), 'has a tol'],
  ])('exits with 2 for a file %s, after running the rest', (_what, content, message) => {
    const path = content === undefined ? join(folder, 'none.json') : write('odd.json', content);
    const { code, lines } = run(path, write('good.json', coordinator(good)));
    expect(code).toBe(2);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(`UNUSABLE ${path} `);
    expect(lines[0]).toContain(message);
    expect(lines[1]).toBe('1 passed, 0 failed');
  });

  it('exits with 2 for a directory without vector files', () => {
    expect(run(folder).code).toBe(2);
  });

  it('an unusable file weighs more than a failure', () => {
    const failing = write('failing.json', coordinator(bad));
    const { code, lines } = run(failing, join(folder, 'none.json'));
    expect(code).toBe(2);
    expect(lines.at(-1)).toBe('0 passed, 1 failed');
  });
});

describe('a step', () => {
  const limiter = (...steps: unknown[]): unknown => ({
    suite: 'strict-limiter',
    cases: [{ name: 'limiter', params: { qps: 3 }, steps }],
  });

  it('without an expectation must only not fail', () => {
    expect(run(write('a.json', limiter({ op: 'update', at: 0, qps: 5 }))).code).toBe(0);
    expect(run(write('a.json', limiter({ op: 'update', at: 0, qps: -5 }))).code).toBe(1);
  });

  it('that expects an error needs one of that name', () => {
    const update = (name: string, qps: number): number => {
      const step = { op: 'update', at: 0, qps, expect: { error: name } };
      return run(write('a.json', limiter(step))).code;
    };
    expect(update('RangeError', 0)).toBe(0);
    expect(update('TypeError', 0)).toBe(1);
    expect(update('RangeError', 5)).toBe(1);
  });

  it('has the innermost tolerance, each of the two on its own', () => {
    const steps = (...tolerance: [file: object, one: object, step: object]): number => {
      const [file, one, step] = tolerance;
      const reserve = { op: 'reserve', at: 0 };
      return run(
        write('a.json', {
          suite: 'strict-limiter',
          ...file,
          cases: [
            {
              name: 'limiter',
              params: { qps: 3 },
              ...one,
              steps: [reserve, { ...reserve, ...step, expect: { allowedAt: 334 } }],
            },
          ],
        }),
      ).code;
    };
    expect(steps({}, {}, {})).toBe(1);
    expect(steps({ tol: 0.01 }, {}, {})).toBe(0);
    expect(steps({ tol: 0.01 }, { tol: 1e-9 }, {})).toBe(1);
    expect(steps({ tol: 1e-9 }, { tol: 1e-9 }, { absTol: 1 })).toBe(0);
    expect(steps({ absTol: 1 }, { tol: 1e-9 }, {})).toBe(0);
    expect(steps({ absTol: 1 }, {}, { absTol: 0 })).toBe(1);
  });
});
