import { credentials } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { createKvWriter } from '../../src/adapters/kv-writer.js';
import { ConfigError } from '../../src/shared/errors.js';

// Nobody listens there, and nobody is asked for it.
const target = '127.0.0.1:1';

describe('a writer', () => {
  it.each([
    [{}, "target must be 'host:port' or a list of them, got undefined"],
    [{ target: '' }, "target must be 'host:port' or a list of them, got "],
    [{ target: [] }, "target must be 'host:port' or a list of them, got "],
    [{ target: ['a:1', 7] }, "target must be 'host:port' or a list of them, got a:1,7"],
    [{ target, lingerms: 1 }, 'lingerms must be an option of a writer, got lingerms'],
    [
      { target, credentials: 'x' },
      "credentials must be ChannelCredentials of the @grpc/grpc-js that is loaded here, got 'x'",
    ],
    [{ target, credentials: null }, /^credentials must be ChannelCredentials .*, got null/],
  ])('is not made with %j', async (options, message) => {
    const making = createKvWriter(options as never);
    await expect(making).rejects.toThrow(message);
    await expect(making).rejects.toBeInstanceOf(ConfigError);
  });

  it('takes the credentials of its peer', async () => {
    const writer = await createKvWriter({ target, credentials: credentials.createSsl() });
    await writer.close();
  });

  it('is not closed by what cannot be meant', async () => {
    const writer = await createKvWriter({ target });
    expect(() => writer.close({ deadlineMs: Number.NaN })).toThrow(
      'deadlineMs must be a finite number >= 0, got NaN',
    );
    expect(() => writer.close({ deadline: 5 } as never)).toThrow(/^deadline is no option/);
    await writer.close({ deadlineMs: 0 });
    await expect(writer.put('t', 'k', 'v')).rejects.toMatchObject({ outcome: 'not-taken' });
  });
});
