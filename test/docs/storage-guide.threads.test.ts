import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { KV_CODES } from '../../src/shared/kv-errors.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const guide = readFileSync(`${ROOT}docs/guide/storage-backpressure.md`, 'utf8');
const blocks = guide.matchAll(/```js\n(import [\s\S]*?)```\n\nIt prints:\n\n```\n([\s\S]*?)```/g);
const examples = [...blocks].map(([, program = '', printed = '']) => ({ program, printed }));

describe('docs/guide/storage-backpressure.md', () => {
  it('has examples', () => expect(examples).toHaveLength(4));

  it.each(examples)('example %#', async ({ program, printed }) => {
    const args = ['--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    expect(stdout).toBe(printed);
  });

  it('names every code', () => {
    const rows = [...guide.matchAll(/^\| (\d+(?:, \d+)*) \|/gm)].flatMap(([, codes = '']) =>
      codes.split(', ').map(Number),
    );
    expect(rows).toEqual(Object.values(KV_CODES));
  });

  it('names every metric', async () => {
    const { Registry } = await import('prom-client');
    const { createKvPrometheusMetrics } = await import('../../src/adapters/kv-prometheus.js');
    const source = { stats: () => ({ tables: [], logBytes: 0 }), stalledMs: async () => ({}) };
    const { names } = createKvPrometheusMetrics(source, { register: new Registry() });
    for (const name of names) expect(guide).toMatch(new RegExp(`\`${name}[\`{]`));
  });
});
