import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STATE_LIMITS } from '../../src/cli/backend-state.js';
import { ENGINE_MEMORY_BYTES } from '../../src/cli/sql/engine-shelf.js';
import { systemTables } from '../../src/cli/sql/system-tables.js';
import { SQL_USAGE, TOP_USAGE, USAGE } from '../../src/cli/usage.js';

const text = readFileSync(new URL('../../docs/reference/cli.md', import.meta.url), 'utf8');

describe('docs/reference/cli.md', () => {
  it('shows how the command is used', () => {
    const blocks = [...text.matchAll(/```\n([\s\S]*?)```/g)].map(([, block]) => block);
    expect(blocks).toEqual([USAGE, SQL_USAGE, TOP_USAGE]);
  });

  it('has every system table with its columns and their types, each explained', () => {
    const [, ...sections] = text.split('\n### ');
    const told = sections.map((section) => ({
      name: section.split('\n')[0],
      columns: section
        .split('\n')
        .filter((line) => line.startsWith('| `'))
        .map((line) => {
          const [name = '', type = '', about = ''] = line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim());
          expect(about).not.toBe('');
          return { name: name.replaceAll('`', ''), type };
        }),
    }));
    expect(told).toEqual(systemTables().map(({ name, columns }) => ({ name, columns })));
  });

  it('has the limits that the code has', () => {
    const mebi = (bytes: number): string => `${bytes / 2 ** 20} MiB`;
    expect(text).toContain(`| size of a backend's answer | ${mebi(STATE_LIMITS.maxBytes)} |`);
    expect(text).toContain(`| memory of an engine | ${mebi(ENGINE_MEMORY_BYTES)},`);
    expect(SQL_USAGE).toContain(`may take to answer; ${STATE_LIMITS.timeoutMs}\n`);
  });
});
