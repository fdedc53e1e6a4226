import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const guide = readFileSync(`${ROOT}docs/guide/dashboard.md`, 'utf8');

it('the example of docs/guide/dashboard.md prints what it says', async () => {
  const [, program = '', printed] =
    /```js\n(import [\s\S]*?)```\n\nIt prints:\n\n```\n([\s\S]*?)```/.exec(guide) ?? [];
  const run = promisify(execFile)(
    process.execPath,
    ['--unhandled-rejections=strict', '--input-type=module', '--eval', program],
    { cwd: ROOT, timeout: 20_000 },
  );
  expect(await run).toEqual({ stdout: printed, stderr: '' });
});

it('names every part of the page', () => {
  const folder = `${ROOT}src/adapters/admin/dashboard/page/view`;
  const parts = ['slowed', 'rates', 'course', 'hosts', 'circuits', 'storage', 'events'];
  const rows = [...guide.matchAll(/^\| ([A-Z][\w ]+) \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(
    parts.map((part) => {
      const source = readFileSync(`${folder}/${part}-section.ts`, 'utf8');
      return /section\(\s*'([^']+)'/.exec(source)?.[1];
    }),
  );
});

it('has its pictures, of modest size', () => {
  const pictures = [...guide.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path]) => path as string);
  expect(pictures).toHaveLength(3);
  for (const path of pictures) {
    const file = `${ROOT}docs/guide/${path}`;
    expect(readFileSync(file).subarray(1, 4).toString()).toBe('PNG');
    expect(statSync(file).size).toBeLessThan(250_000);
  }
});
