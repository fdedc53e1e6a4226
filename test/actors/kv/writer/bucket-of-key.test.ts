import { describe, expect, it } from 'vitest';
import { bucketOfKey } from '../../../../src/actors/kv/writer/bucket-of-key.js';

const key = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the bucket of a key', () => {
  it('is the same for ever: what was written by one version is found by the next', () => {
    const keys = ['a', 'b', '10086', 'key 1', 'key 2', ''.padEnd(100, 'x')];
    expect(keys.map((text) => bucketOfKey(key(text), 64))).toMatchInlineSnapshot(`
      [
        51,
        50,
        3,
        27,
        43,
        34,
      ]
    `);
  });

  it('is one of the buckets, all of which are used', () => {
    for (const buckets of [1, 2, 3, 8, 1000]) {
      const used = new Set<number>();
      for (let i = 0; i < buckets * 20; i += 1) used.add(bucketOfKey(key(`${i}`), buckets));
      expect(used.size).toBe(buckets);
      expect(Math.max(...used)).toBe(buckets - 1);
    }
  });
});
