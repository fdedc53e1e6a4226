import { describe, expect, it } from 'vitest';
import { backoffMs, callWithRetries } from '../../demo/client/retry.js';

const policy = { attempts: 5, baseDelayMs: 50, maxDelayMs: 300 };

describe('backoffMs', () => {
  it('doubles up to the cap and spreads over all of it', () => {
    expect([1, 2, 3, 4, 5].map((retry) => backoffMs(policy, retry, 1))).toEqual([
      50, 100, 200, 300, 300,
    ]);
    expect(backoffMs(policy, 2, 0)).toBe(0);
    expect(backoffMs(policy, 2, 0.5)).toBe(50);
  });
});

describe('callWithRetries', () => {
  function ports(isRetriable = true) {
    const sleeps: number[] = [];
    return {
      sleeps,
      random: () => 1,
      isRetriable: () => isRetriable,
      sleep: async (delayMs: number) => {
        sleeps.push(delayMs);
      },
    };
  }
  /** Fails `failures` times, then answers with the number of the attempt. */
  function flaky(failures: number) {
    let made = 0;
    return async () => {
      made += 1;
      if (made <= failures) throw new Error(`attempt ${made}`);
      return made;
    };
  }

  it('does not sleep when the first attempt answers', async () => {
    const used = ports();
    expect(await callWithRetries(policy, used, flaky(0))).toBe(1);
    expect(used.sleeps).toEqual([]);
  });

  it('answers with the fifth attempt', async () => {
    const used = ports();
    expect(await callWithRetries(policy, used, flaky(4))).toBe(5);
    expect(used.sleeps).toEqual([50, 100, 200, 300]);
  });

  it('gives up after five attempts with the last error, without a sleep after it', async () => {
    const used = ports();
    await expect(callWithRetries(policy, used, flaky(9))).rejects.toThrow('attempt 5');
    expect(used.sleeps).toHaveLength(4);
  });

  it('does not try again what is not retriable', async () => {
    await expect(callWithRetries(policy, ports(false), flaky(1))).rejects.toThrow('attempt 1');
  });
});
