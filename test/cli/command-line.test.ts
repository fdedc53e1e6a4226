import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCommand } from '../../src/cli/command-line.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'spillway-cli-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(text: string): string {
  const name = join(dir, `file-${Math.random()}`);
  writeFileSync(name, text);
  return name;
}

const URLS = 'http://127.0.0.1:9464,http://127.0.0.1:9465/';

describe('what is asked for', () => {
  it('is one query, with its defaults', () => {
    expect(readCommand(['sql', 'SELECT 1', '--backends', URLS], {})).toEqual({
      kind: 'sql-query',
      sql: 'SELECT 1',
      format: 'table',
      queryTimeoutMs: 30_000,
      backendTimeoutMs: 1000,
      backends: [
        { url: 'http://127.0.0.1:9464', token: undefined },
        { url: 'http://127.0.0.1:9465', token: undefined },
      ],
    });
  });

  it('is an endpoint, with its defaults', () => {
    const environment = { SPILLWAY_BACKENDS: 'http://b:1/base/', SPILLWAY_TOKEN: 'secret' };
    expect(readCommand(['sql', '--listen', '127.0.0.1:0'], environment)).toEqual({
      kind: 'sql-listen',
      host: '127.0.0.1',
      port: 0,
      password: undefined,
      maxClients: 8,
      queryTimeoutMs: 30_000,
      backendTimeoutMs: 1000,
      backends: [{ url: 'http://b:1/base', token: 'secret' }],
    });
  });

  it.each([
    ['localhost:5432', 'localhost', 5432],
    ['[::1]:5432', '::1', 5432],
    ['127.9.9.9:1', '127.9.9.9', 1],
    ['5433', '127.0.0.1', 5433],
  ])('listens on %s', (text, host, port) => {
    const command = readCommand(['sql', '--listen', text, '--backends', URLS], {});
    expect(command).toMatchObject({ host, port });
  });

  it('is the live view', () => {
    const args = ['top', '--backends', URLS, '--interval', '0.5', '--sort', 'qps', '--once'];
    expect(readCommand(args, {})).toMatchObject({
      kind: 'top',
      intervalMs: 500,
      sort: 'qps',
      filter: '',
      once: true,
    });
  });

  it.each([
    [[], undefined],
    [['help'], undefined],
    [['--help'], undefined],
    [['help', 'sql'], 'sql'],
    [['sql', '--help'], 'sql'],
    [['top', '-h'], 'top'],
  ])('%j is help', (args, about) => {
    expect(readCommand(args, {})).toEqual({ kind: 'help', about });
  });

  it('is the version', () => {
    expect(readCommand(['--version'], {})).toEqual({ kind: 'version' });
  });
});

describe('tokens and passwords', () => {
  it('takes one token for all, and one for each backend, from a file', () => {
    const tokens = file('# of the fleet\nfor-all\n\nhttp://127.0.0.1:9465 for-this\n');
    expect(
      readCommand(['top', '--backends', URLS, '--token-file', tokens], { SPILLWAY_TOKEN: 'other' }),
    ).toMatchObject({
      backends: [
        { url: 'http://127.0.0.1:9464', token: 'for-all' },
        { url: 'http://127.0.0.1:9465', token: 'for-this' },
      ],
    });
  });

  it('takes the password of clients from a file or the environment', () => {
    const listen = ['sql', '--listen', '0.0.0.0:1', '--backends', URLS];
    expect(readCommand([...listen, '--password-file', file('pass word\nx')], {})).toMatchObject({
      password: 'pass word',
    });
    expect(readCommand(listen, { SPILLWAY_SQL_PASSWORD: 'p' })).toMatchObject({ password: 'p' });
  });

  it.each([
    ['a b c', 'must be TOKEN or URL TOKEN'],
    ['a\nb', 'is a second token for all backends'],
    ['# nothing\n', 'holds no token'],
    ['caf\u00e9', 'visible ASCII'],
    [
      'http://127.0.0.1:9999 t',
      'a token for http://127.0.0.1:9999, which --backends does not name',
    ],
  ])('refuses the token file %j', (text, rule) => {
    const args = ['top', '--backends', URLS, '--token-file', file(text)];
    expect(() => readCommand(args, {})).toThrow(rule);
  });
});

describe('wrong usage', () => {
  it.each<[string, string[], string]>([
    ['an unknown command', ['sqll'], 'unknown command "sqll"'],
    ['unknown help', ['help', 'me'], 'no help on "me"'],
    ['an unknown option', ['top', '--backends', URLS, '--colour'], "Unknown option '--colour'"],
    [
      'a token as argument',
      ['top', '--backends', URLS, '--token', 't'],
      "Unknown option '--token'",
    ],
    ['no backends', ['top'], '--backends URL,... is missing'],
    ['no URL', ['top', '--backends', 'nowhere'], 'must be URL,URL,..., got "nowhere"'],
    ['another scheme', ['top', '--backends', 'ftp://a'], 'must be an http or https URL'],
    ['a password in a URL', ['top', '--backends', 'http://u:secret@a'], 'no user or password'],
    ['a query in a URL', ['top', '--backends', 'http://a/?token=t'], 'no ? and no #'],
    ['a backend twice', ['top', '--backends', 'http://a,http://a/'], 'names http://a twice'],
    ['no query', ['sql', '--backends', URLS], 'a query is missing'],
    ['two queries', ['sql', 'SELECT', '1', '--backends', URLS], 'one query at a time: quote it'],
    [
      'a query and --listen',
      ['sql', 'x', '--listen', '1', '--backends', URLS],
      'exclude each other',
    ],
    ['two formats', ['sql', 'x', '--json', '--csv', '--backends', URLS], 'exclude each other'],
    ['a format of an endpoint', ['sql', '--listen', '1', '--json'], '--json goes with a query'],
    ['a bad port', ['sql', '--listen', 'a:70000'], 'must be HOST:PORT, got "a:70000"'],
    ['a host of others', ['sql', '--listen', '0.0.0.0:1'], 'is not a loopback address'],
    ['a name of others', ['sql', '--listen', 'db.example:1'], 'is not a loopback address'],
    ['too many clients', ['sql', '--listen', '1', '--max-clients', '65'], 'from 1 to 64, got 65'],
    ['a fraction', ['sql', 'x', '--query-timeout-ms', '1.5'], 'must be an integer from 1 to'],
    ['an unknown order', ['top', '--sort', 'name'], 'must be one of severity, qps, table, since'],
    ['a short interval', ['top', '--interval', '0'], 'seconds from 0.1 to 3600, got 0'],
    ['an endless interval', ['top', '--interval', 'Infinity'], 'seconds from 0.1 to 3600'],
  ])('names %s', (_what, args, message) => {
    expect(() => readCommand(args, {})).toThrow(
      expect.objectContaining({ name: 'UsageError', message: expect.stringContaining(message) }),
    );
  });

  it('never repeats a password', () => {
    let text = '';
    try {
      readCommand(['top', '--backends', 'http://user:hunter2@host:1'], {});
    } catch (error) {
      text = String(error);
    }
    expect(text).toContain('host:1');
    expect(text).not.toContain('hunter2');
  });
});
