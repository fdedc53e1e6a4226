import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { REFUSAL_CODES, refusalOf } from '../../src/adapters/admin/admin-refusal.js';
import { ADMIN_ROUTES } from '../../src/adapters/admin/admin-routes.js';
import { LISTEN_OPTIONS } from '../../src/adapters/admin/listen-options.js';
import { OPEN_PATHS } from '../../src/adapters/admin/request-guard.js';
import { SECURITY_HEADERS } from '../../src/adapters/admin/security-headers.js';
import { ConfigConflictError, ConfigError, RuntimeClosedError } from '../../src/shared/errors.js';

const text = readFileSync(new URL('../../docs/reference/admin-server.md', import.meta.url), 'utf8');
/** Cells of the lines of a section's table, without its head. */
const table = (heading: string): string[][] => {
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  return (section.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
};

describe('docs/reference/admin-server.md', () => {
  it('has every option', () => {
    expect(table('`runtime.admin.listen(options)`').map(([option]) => option)).toEqual(
      LISTEN_OPTIONS,
    );
  });

  it('has every route with its methods, and whether it is open', () => {
    expect(table('Routes').map(([route, methods, token]) => [route, methods, token])).toEqual(
      Object.entries(ADMIN_ROUTES).map(([route, methods]) => [
        route,
        methods,
        OPEN_PATHS.includes(route) ? 'no' : 'yes',
      ]),
    );
  });

  it('has every code with its status, and no other', () => {
    const ours = [
      new ConfigError('', { field: '', rule: '', value: '' }),
      new ConfigConflictError('', { version: 1 }),
      new RuntimeClosedError(),
    ].map((error) => {
      const { status, code } = refusalOf(error);
      return `${status} ${code}`;
    });
    const own = Object.entries(REFUSAL_CODES).map(([status, code]) => `${status} ${code}`);
    expect(
      table('Refusals')
        .map(([status, code]) => `${status} ${code}`)
        .sort(),
    ).toEqual([...own, ...ours].sort());
  });

  it('has the headers', () => {
    const headers = text.split('\n## Headers\n')[1] ?? '';
    for (const name of Object.keys(SECURITY_HEADERS)) {
      expect(headers.replaceAll(/\s+/g, ' ')).toContain(
        name.replace('content-security-policy', 'content security policy'),
      );
    }
  });
});
