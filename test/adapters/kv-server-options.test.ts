import * as grpc from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { startKvServer } from '../../src/adapters/kv-server.js';
import { resolveKvServerOptions } from '../../src/adapters/kv-server-options.js';
import { ConfigError } from '../../src/shared/errors.js';

const store = {
  put: async () => ({ code: 0 as const, message: '', pressure: 0 }),
  get: async () => ({ ok: true as const, result: [] }),
  scan: async () => ({ ok: true as const, result: { rows: [], hasMore: false } }),
  tables: () => ({ t: 1 }),
};

describe('options of a key-value server', () => {
  it.each([
    [{ store: {} }, /^store must be a key-value store, got /],
    [{ host: '' }, /^host must be a name or an address, got ''/],
    [{ host: 7 }, /^host must be a name or an address, got 7/],
    [{ port: '0' }, /^port must be an integer from 0 to 65535, got '0'/],
    [{ port: 65_536 }, /^port must be an integer from 0 to 65535, got 65536/],
    [{ maxMessageBytes: Number.NaN }, /^maxMessageBytes must be an integer from 1 to 2147483647/],
    [{ credentials: 'x' }, /^credentials must be ServerCredentials of @grpc\/grpc-js, got 'x'/],
    [{ advertise: 5 }, /^advertise must be 'host:port', got 5/],
    [{ advertise: 'here' }, /^advertise must be 'host:port', got 'here'/],
    [{ maxMesageBytes: 1 }, /^maxMesageBytes must be an option of a key-value server/],
  ])('%j is refused', async (given, message) => {
    const starting = startKvServer({ store, ...given } as never);
    await expect(starting).rejects.toThrow(message);
    await expect(starting).rejects.toBeInstanceOf(ConfigError);
  });

  it.each(['0.0.0.0', '::', '[::]', '0:0:0:0:0:0:0:0'])(
    'must name who leads, to those elsewhere, where it listens on %s',
    (host) => {
      const message = `advertise must be given where host is ${host}, got undefined`;
      expect(() => resolveKvServerOptions({ store, host }, grpc)).toThrow(message);
      expect(resolveKvServerOptions({ store, host, advertise: 'a:1' }, grpc).advertise).toBe('a:1');
    },
  );

  it('have defaults, and hosts that stand in front of a port', () => {
    const resolved = resolveKvServerOptions({ store }, grpc);
    expect(resolved).toMatchObject({ host: '127.0.0.1', port: 0, maxMessageBytes: 2 ** 25 });
    expect(resolved.credentials).toBeInstanceOf(grpc.ServerCredentials);
    expect(resolveKvServerOptions({ store, host: '::1' }, grpc).host).toBe('[::1]');
    expect(resolveKvServerOptions({ store, host: '[::1]' }, grpc).host).toBe('[::1]');
  });
});

describe('the close of a key-value server', () => {
  it('refuses a deadline that no timer holds, and none that is no number', async () => {
    const server = await startKvServer({ store });
    for (const deadlineMs of [2 ** 31, -1, Number.NaN])
      expect(() => server.close({ deadlineMs })).toThrow(RangeError);
    expect(() => server.close({ deadlineMs: '5' as never })).toThrow(TypeError);
    const closing = server.close();
    expect(server.close({ deadlineMs: 0 })).toBe(closing);
    await closing;
  });
});
