import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = /```js\n(import [\s\S]*?)```\n\nIt prints:\n\n```\n([\s\S]*?)```/g;
const text = readFileSync(`${ROOT}docs/guide/admin-server.md`, 'utf8');
const programs = [...text.matchAll(PROGRAM)].map(([, program = '', printed = ''], i) => {
  return { number: i + 1, program, printed };
});

it('has the programs that it announces, and no other', () => {
  expect(programs).toHaveLength(3);
  expect(text.match(/^```js$/gm)).toHaveLength(3);
});

it.each(programs)(
  'program $number of docs/guide/admin-server.md prints what it says',
  async ({ program, printed }) => {
    const { SPILLWAY_ADMIN_TOKEN: _ours, ...env } = process.env;
    const run = promisify(execFile)(
      process.execPath,
      ['--unhandled-rejections=strict', '--input-type=module', '--eval', program],
      { cwd: ROOT, timeout: 30_000, env },
    );
    expect(await run).toEqual({ stdout: printed, stderr: '' });
  },
);
