import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = /```js\n(import [\s\S]*?)```\n\nIt prints:\n\n```\n([\s\S]*?)```/g;

const programs = ['calls', 'peers', 'pressure'].flatMap((guide) => {
  const text = readFileSync(`${ROOT}docs/guide/${guide}.md`, 'utf8');
  return [...text.matchAll(PROGRAM)].map(([, program = '', printed = ''], i) => {
    return { name: `${guide}.md, program ${i + 1}`, program, printed };
  });
});

it('finds the programs', () => {
  expect(programs.map(({ name }) => name)).toEqual([
    'calls.md, program 1',
    'calls.md, program 2',
    'peers.md, program 1',
    'pressure.md, program 1',
    'pressure.md, program 2',
    'pressure.md, program 3',
  ]);
});

it.each(programs)('docs/guide/$name prints what it says', async ({ program, printed }) => {
  const run = promisify(execFile)(
    process.execPath,
    ['--unhandled-rejections=strict', '--input-type=module', '--eval', program],
    { cwd: ROOT, timeout: 30_000 },
  );
  expect(await run).toEqual({ stdout: printed, stderr: '' });
});
