import { describe, expect, it } from 'vitest';
import { WriterFence } from '../../../src/actors/kv/writer-fence.js';

describe('the fence', () => {
  it('lets attempts of a writer through in the order of their numbers alone', () => {
    const fence = new WriterFence();
    expect([3, 3, 2, 4, 9, 8].map((number) => fence.admit('a', number, 0))).toEqual([
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
    expect(fence.admit('b', 1, 0)).toBe(true);
  });

  it('forgets the writer that has been silent longest, and is never larger than it may be', () => {
    const fence = new WriterFence();
    fence.admit('kept', 1, 0);
    fence.admit('silent', 5, 0);
    for (let i = 0; i < 5000; i += 1) {
      fence.admit(`writer ${i}`, 1, 0);
      if (i % 1000 === 0) fence.admit('kept', 2 + i, 0);
    }
    expect(fence.writers).toBe(4096);
    expect(fence.admit('kept', 1, 0)).toBe(false);
    expect(fence.admit('silent', 1, 0)).toBe(true);
  });

  it('forgets writers of which nothing can be on the way any more', () => {
    const fence = new WriterFence();
    for (let i = 0; i < 100; i += 1) fence.admit(`${i}`, 9, i);
    fence.admit('0', 10, 20 * 60_000 - 1);
    expect(fence.writers).toBe(100);
    expect(fence.admit('1', 8, 20 * 60_000 - 1)).toBe(false);
    fence.admit('new', 1, 20 * 60_000 + 50);
    // Those of the first 50 ms; not the one that has written since.
    expect(fence.writers).toBe(51);
    expect(fence.admit('0', 10, 20 * 60_000 + 50)).toBe(false);
  });
});
