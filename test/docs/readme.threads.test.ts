import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = readFileSync(`${ROOT}README.md`, 'utf8');

it('prints what the README says when its first program is run', async () => {
  const [, program = '', printed] =
    /```js\n([\s\S]*?)```\n\nIt prints:\n\n```\n([\s\S]*?)```/.exec(README) ?? [];
  const run = promisify(execFile)(
    process.execPath,
    ['--unhandled-rejections=strict', '--input-type=module', '--eval', program],
    { cwd: ROOT, timeout: 20_000 },
  );
  expect(await run).toEqual({ stdout: printed, stderr: '' });
});

it('links to documents that exist', () => {
  const links = [...README.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link as string);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !existsSync(`${ROOT}${link}`))).toEqual([]);
});
