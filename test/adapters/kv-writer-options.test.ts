import { afterEach, describe, expect, it } from 'vitest';
import { createKvWriter, type KvWriter } from '../../src/adapters/kv-writer.js';
import { ConfigError } from '../../src/shared/errors.js';

const writers: KvWriter[] = [];
afterEach(async () => {
  await Promise.all(writers.splice(0).map((one) => one.close({ deadlineMs: 0 })));
});

describe('createKvWriter', () => {
  it.each([undefined, null, 5])('refuses %j as its options', async (options) => {
    const made = createKvWriter(options as never);
    await expect(made).rejects.toBeInstanceOf(ConfigError);
    await expect(made).rejects.toThrow('options must be an object with a target, got');
  });

  const textless = { toString: null };
  it.each([undefined, '', 'a', 'http://a:1', 'a:', ['a:1', 'b'], [], [''], [1], 5, null, textless])(
    'refuses %j as its target',
    async (target) => {
      const made = createKvWriter({ target: target as string });
      await expect(made).rejects.toThrow(ConfigError);
      await expect(made).rejects.toThrow("target must be 'host:port' or a list of them, got");
    },
  );

  it('refuses what is no option, and what is none of its values', async () => {
    const more = { target: 'a:1', batch: 5 };
    await expect(createKvWriter({ targets: 'a:1' } as never)).rejects.toThrow(
      'targets is no option, there are target, credentials, batchBytes, ',
    );
    await expect(createKvWriter(more)).rejects.toThrow('batch is no option, there are target, ');
    const made = createKvWriter({ target: 'a:1', batchBytes: 0 });
    await expect(made).rejects.toThrow('batchBytes must be an integer from 1 to 4194304, got 0');
  });

  it('refuses a deadline that is none, and closes all the same', async () => {
    const writer = await createKvWriter({ target: '127.0.0.1:1' });
    writers.push(writer);
    for (const deadlineMs of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      expect(() => writer.close({ deadlineMs })).toThrow(RangeError);
    }
    const closing = writer.close();
    expect(writer.close()).toBe(closing);
    await closing;
  });
});
