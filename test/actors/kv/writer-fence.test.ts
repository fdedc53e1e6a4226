import { describe, expect, it } from 'vitest';
import { WriterFence } from '../../../src/actors/kv/writer-fence.js';

describe('the fence', () => {
  it('lets attempts of a writer through in the order of their numbers alone', () => {
    const fence = new WriterFence();
    expect([3, 3, 2, 4, 9, 8].map((number) => fence.admit('a', number))).toEqual([
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
    expect(fence.admit('b', 1)).toBe(true);
  });

  it('forgets the writer that has been silent longest, and is never larger than it may be', () => {
    const fence = new WriterFence();
    fence.admit('kept', 1);
    fence.admit('silent', 5);
    for (let i = 0; i < 5000; i += 1) {
      fence.admit(`writer ${i}`, 1);
      if (i % 1000 === 0) fence.admit('kept', 2 + i);
    }
    expect(fence.writers).toBe(4096);
    expect(fence.admit('kept', 1)).toBe(false);
    expect(fence.admit('silent', 1)).toBe(true);
  });
});
