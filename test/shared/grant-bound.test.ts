import { describe, expect, it } from 'vitest';
import { worstExcess } from './grant-bound.js';

const at = (...seconds: number[]) => seconds.map((s) => ({ atNs: s * 1e9, n: 1 }));
const steady = [{ fromNs: 0, qps: 1, burst: 2 }];

describe('worstExcess', () => {
  it('is nothing for a burst and then one a second', () => {
    expect(worstExcess(at(0, 0, 1, 2, 3), steady)).toBeLessThanOrEqual(0);
  });

  it('finds the one window that holds too much, wherever it lies', () => {
    expect(worstExcess(at(0, 10, 10, 10, 20), steady)).toBe(1);
    expect(worstExcess(at(0, 10, 10, 10.5, 11), steady)).toBe(1);
  });

  it('counts weights', () => {
    expect(worstExcess([{ atNs: 5e9, n: 5 }], steady)).toBe(3);
  });

  it('takes the burst of the beginning of the window, and the rates since', () => {
    const raised = [...steady, { fromNs: 10e9, qps: 10, burst: 100 }];
    expect(worstExcess(at(9.5, 9.5, 10.1, 10.2), raised)).toBeLessThanOrEqual(0);
    expect(worstExcess(at(9.5, 9.5, 10, 10), raised)).toBeCloseTo(1.5);
  });

  it('lets a fresh bucket hand out its burst once more', () => {
    const reset = [...steady, { fromNs: 10e9, qps: 1, burst: 2, fresh: true }];
    expect(worstExcess(at(10, 10, 10, 10), reset)).toBeLessThanOrEqual(0);
    expect(worstExcess(at(10, 10, 10, 10, 10), reset)).toBe(1);
  });
});
