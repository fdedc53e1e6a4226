import { describe, expect, it } from 'vitest';
import { refuseAttempt, WriterFence } from '../../../src/actors/kv/writer-fence.js';

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

describe('an attempt', () => {
  it('has a writer with a short name, and a number that can be compared', () => {
    expect(refuseAttempt('w'.repeat(256), 0)).toBe(undefined);
    expect(refuseAttempt('w', 2 ** 53 - 1)).toBe(undefined);
    for (const attempt of [Number.NaN, -1, 1.5, 2 ** 53, '1', null])
      expect(refuseAttempt('w', attempt)).toBe(
        `attempt must be an integer from 0 to 2^53 - 1, got ${String(attempt)}`,
      );
    expect(refuseAttempt('w'.repeat(257), 1)).toBe(
      'writer must be a name of at most 256 characters',
    );
    expect(refuseAttempt(5, 1)).toMatch(/^writer must be a name/);
  });
});
