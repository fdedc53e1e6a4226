import { credentials } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { createKvWriter } from '../../src/adapters/kv-writer.js';
import { ConfigError } from '../../src/shared/errors.js';

// Nobody listens there, and nobody is asked for it.
const target = '127.0.0.1:1';

describe('a writer', () => {
  it.each(['x', null, {}])('is not made with the credentials %j', async (given) => {
    const making = createKvWriter({ target, credentials: given as never });
    await expect(making).rejects.toThrow(
      /^credentials must be ChannelCredentials of the @grpc\/grpc-js that is loaded here, got /,
    );
    await expect(making).rejects.toBeInstanceOf(ConfigError);
  });

  it('takes the credentials of its peer', async () => {
    const writer = await createKvWriter({ target, credentials: credentials.createSsl() });
    await writer.close();
  });

  it('is not closed by an option that there is not', async () => {
    const writer = await createKvWriter({ target });
    expect(() => writer.close({ deadline: 5 } as never)).toThrow(/^deadline is no option/);
    await writer.close({ deadlineMs: 0 });
    await expect(writer.put('t', 'k', 'v')).rejects.toMatchObject({ outcome: 'not-taken' });
  });
});
