import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = /```js\n(import [\s\S]*?)```\n\nIt prints:\n\n```\n([\s\S]*?)```/g;

const text = readFileSync(`${ROOT}docs/guide/observability.md`, 'utf8');
const programs = [...text.matchAll(PROGRAM)].map(([, program = '', printed = ''], i) => {
  const heading =
    text
      .slice(0, text.indexOf(program))
      .match(/^## .*$/gm)
      ?.at(-1) ?? '';
  return { name: `${heading.slice(3)} (${i + 1})`, program, printed };
});

describe('docs/guide/observability.md', () => {
  it('says of each of its programs what it prints', () => {
    expect(text.match(/```js\nimport /g)).toHaveLength(programs.length);
    expect(programs.length).toBeGreaterThanOrEqual(4);
  });

  it.each(programs)('prints what it says: $name', async ({ program, printed }) => {
    const run = promisify(execFile)(
      process.execPath,
      ['--unhandled-rejections=strict', '--input-type=module', '--eval', program],
      { cwd: ROOT, timeout: 30_000 },
    );
    expect(await run).toEqual({ stdout: printed, stderr: '' });
  });
});
