import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it.each(['grpc', 'prometheus', 'undici'])('docs/guide/%s.md prints what it says', async (guide) => {
  const text = readFileSync(`${ROOT}docs/guide/${guide}.md`, 'utf8');
  const [, program = '', printed] =
    /```js\n(import [\s\S]*?)```\n\nIt prints:\n\n```\n([\s\S]*?)```/.exec(text) ?? [];
  const run = promisify(execFile)(
    process.execPath,
    ['--unhandled-rejections=strict', '--input-type=module', '--eval', program],
    { cwd: ROOT, timeout: 20_000 },
  );
  expect(await run).toEqual({ stdout: printed, stderr: '' });
});
