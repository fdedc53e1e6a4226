import { describe, expect, it } from 'vitest';
import { resolveListenOptions } from '../../../src/adapters/admin/listen-options.js';
import { ConfigError } from '../../../src/shared/errors.js';
import type { AdminListenOptions } from '../../../src/workers/admin-servers.js';

const STORE = { stats: () => ({ tables: [], logBytes: 0 }), stalledMs: async () => ({}) };
const TOKEN = 'sixteen-letters!';

function refused(options: unknown): ConfigError {
  try {
    resolveListenOptions(options as AdminListenOptions);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('resolveListenOptions', () => {
  it('listens on loopback, without a token, unless told otherwise', () => {
    const resolved = resolveListenOptions({ port: 0 });
    expect(resolved).toEqual({ port: 0, host: '127.0.0.1', token: undefined, stores: {} });
    expect(Object.isFrozen(resolved)).toBe(true);
  });

  it('takes all of them', () => {
    const given = { port: 65_535, host: '::', token: TOKEN, stores: { kv: STORE } };
    expect(resolveListenOptions(given)).toEqual(given);
    expect(resolveListenOptions({ port: 1, token: '~'.repeat(256) }).token).toHaveLength(256);
  });

  it.each([
    [{}, 'port', 'port must be an integer from 0 to 65535, got undefined'],
    [{ port: '80' }, 'port', "port must be an integer from 0 to 65535, got '80'"],
    [{ port: 1.5 }, 'port', 'port must be an integer from 0 to 65535, got 1.5'],
    [{ port: -0 }, 'port', 'port must be an integer from 0 to 65535, got -0'],
    [{ port: 65_536 }, 'port', 'port must be an integer from 0 to 65535, got 65536'],
    [{ port: Number.NaN }, 'port', 'port must be an integer from 0 to 65535, got NaN'],
    [{ port: 0, host: '' }, 'host', "host must be an address, or a name that has one, got ''"],
    [
      { port: 0, host: 'a b' },
      'host',
      "host must be an address, or a name that has one, got 'a b'",
    ],
    [{ port: 0, host: null }, 'host', 'host must be an address, or a name that has one, got null'],
    [
      { port: 0, hots: 'x' },
      'hots',
      "hots is no option (there are port, host, token, stores), got 'x'",
    ],
    [
      { port: 0, stores: [STORE] },
      'stores',
      'stores must be an object of stores by name, got an array',
    ],
    [
      { port: 0, stores: { kv: {} } },
      'stores.kv',
      'stores.kv must be a key-value store, got an object',
    ],
    [
      { port: 0, stores: { '': STORE } },
      'stores',
      "stores must have names of 1 to 256 characters, got ''",
    ],
    [null, 'options', 'options must be an object, got null'],
  ])('refuses %j', (options, field, message) => {
    expect(refused(options)).toMatchObject({ field, message });
  });

  it('refuses the 65th store', () => {
    const stores = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`kv${i}`, STORE]));
    expect(refused({ port: 0, stores }).message).toBe(
      'stores must have at most 64 entries, got 65',
    );
  });

  it.each([
    ['fifteen-letters', '15 characters'],
    ['with a space in it', '18 characters'],
    ['sixteen-letters\n', '16 characters'],
    ['sechzehn-buchstäben', '19 characters'],
    ['x'.repeat(257), '257 characters'],
    [null, 'a value of type object'],
    [1234567890123456, 'a value of type number'],
  ])('refuses the token %j without quoting it', (token, came) => {
    const error = refused({ port: 0, token });
    expect(error.message).toBe(
      `token must be 16 to 256 printable ASCII characters without spaces, got ${came}`,
    );
    expect(error).toMatchObject({ field: 'token', value: came });
  });

  it('does not quote one that stands under a wrong name either', () => {
    expect(refused({ port: 0, Token: TOKEN }).message).not.toContain(TOKEN);
    expect(refused({ port: 0, authToken: TOKEN }).value).not.toBe(TOKEN);
  });
});
