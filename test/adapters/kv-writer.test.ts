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

  it('takes no text that UTF-8 cannot hold: two such keys would be one', async () => {
    const writer = await createKvWriter({ target });
    const refused = { code: 'ERR_SPILLWAY_KV_RECORD', storageCode: 3 };
    for (const text of ['\ud800', 'a\udfffb', '\udc00\ud800']) {
      await expect(writer.put('t', text, 'v')).rejects.toMatchObject(refused);
      await expect(writer.put('t', 'k', text)).rejects.toMatchObject(refused);
      await expect(writer.delete('t', text)).rejects.toMatchObject(refused);
    }
    const taken = writer.put('t', '\u{1f600}', '\ud83d\ude00');
    expect(writer.stats().given).toBe(1);
    await writer.close({ deadlineMs: 0 });
    await expect(taken).rejects.toMatchObject({ code: 'ERR_SPILLWAY_KV_WRITER_CLOSED' });
  });

  it('is not closed by an option that there is not', async () => {
    const writer = await createKvWriter({ target });
    expect(() => writer.close({ deadline: 5 } as never)).toThrow(/^deadline is no option/);
    await writer.close({ deadlineMs: 0 });
    await expect(writer.put('t', 'k', 'v')).rejects.toMatchObject({ outcome: 'not-taken' });
  });
});
