import { describe, expect, it } from 'vitest';
import {
  checkQps,
  checkWeight,
  describeValue,
  holdQuota,
  intervalNs,
  MAX_QPS,
  MAX_SPAN_NS,
} from '../../src/shared/quota.js';
import { BAD_NUMBERS } from './bad-numbers.js';

const ZEROS: [string, number][] = [
  ['0', 0],
  ['-0', -0],
];
const FRACTIONS: [string, number][] = [
  ['1.5', 1.5],
  ['0.999', 0.999],
];
const NINETY_DAYS_S = 90 * 86_400;

describe('intervalNs', () => {
  it('is the time one token takes, rounded up to whole ns', () => {
    expect([1, 3, 1500, 1e6, MAX_QPS].map(intervalNs)).toEqual([
      1e9, 333_333_334, 666_667, 1000, 100,
    ]);
  });

  it.each([0.1, 1, 7, 99.9, 999, 1001, 1500, 2500, 50_000, 333_333, 700_001, 999_999, 1e6])(
    'is at most 0.1 percent too long and never too short at %d/s',
    (qps) => {
      const held = 1e9 / intervalNs(qps);
      expect(held).toBeLessThanOrEqual(qps);
      expect(held).toBeGreaterThanOrEqual(qps * 0.999);
    },
  );

  it('is at most 1 % too long up to the largest rate', () => {
    for (let qps = 1e6; qps <= MAX_QPS; qps += 12_345) {
      expect(1e9 / intervalNs(qps)).toBeGreaterThan(qps * 0.99);
    }
  });

  it('goes down to one in 90 days', () => {
    expect(MAX_SPAN_NS - intervalNs(1 / NINETY_DAYS_S)).toBeLessThanOrEqual(1);
    expect(() => intervalNs(0.99 / NINETY_DAYS_S)).toThrow(/^qps must be at least one in 90 days/);
    expect(() => intervalNs(Number.MIN_VALUE)).toThrow(RangeError);
  });
});

describe('checkQps', () => {
  it.each([...BAD_NUMBERS, ...ZEROS, ['above the largest', MAX_QPS + 1] as const])(
    'refuses %s, naming the field and what came',
    (_, value) => {
      const error = typeof value === 'number' ? RangeError : TypeError;
      expect(() => checkQps(value)).toThrow(error);
      expect(() => checkQps(value)).toThrow(/^qps must be .*, got /);
    },
  );

  it('passes on the rate', () => {
    expect([MAX_QPS, 0.1].map(checkQps)).toEqual([MAX_QPS, 0.1]);
  });
});

describe('holdQuota', () => {
  it('holds a quota in whole ns', () => {
    expect(holdQuota({ qps: 3, burst: 2 })).toEqual({
      qps: 3,
      burst: 2,
      intervalNs: 333_333_334,
      tauNs: 666_666_668,
    });
  });

  it.each([...BAD_NUMBERS, ...ZEROS, ...FRACTIONS])('refuses a burst of %s', (_, burst) => {
    const error = typeof burst === 'number' ? RangeError : TypeError;
    expect(() => holdQuota({ qps: 10, burst })).toThrow(error);
    expect(() => holdQuota({ qps: 10, burst })).toThrow(/^burst must be .*, got /);
  });

  it.each([...BAD_NUMBERS, ...ZEROS])('refuses a rate of %s', (_, qps) => {
    expect(() => holdQuota({ qps, burst: 1 })).toThrow(/^qps must be /);
  });

  it.each([65_536, 2 ** 31, 2 ** 32 + 5])('holds a burst of %d exactly', (burst) => {
    const { tauNs, intervalNs: interval } = holdQuota({ qps: 1e6, burst });
    expect(tauNs / interval).toBe(burst);
    expect(Number.isSafeInteger(tauNs)).toBe(true);
  });

  it.each([
    [1e6, 2 ** 53],
    [1e6, 1e308],
    [1, NINETY_DAYS_S + 1],
    [MAX_QPS, MAX_QPS * NINETY_DAYS_S + 1],
  ])('refuses, at %d/s, a burst of %d: it takes over 90 days to come', (qps, burst) => {
    expect(() => holdQuota({ qps, burst })).toThrow(
      /^burst \/ qps must be at most 90 days, got burst /,
    );
  });

  it('goes up to a burst of exactly 90 days', () => {
    expect(holdQuota({ qps: 1, burst: NINETY_DAYS_S }).tauNs).toBe(MAX_SPAN_NS);
  });
});

describe('checkWeight', () => {
  it.each([...BAD_NUMBERS, ...ZEROS, ...FRACTIONS, ['above the largest', 1e12 + 1] as const])(
    'refuses %s, naming the field',
    (_, value) => {
      const error = typeof value === 'number' ? RangeError : TypeError;
      expect(() => checkWeight(value, 'weight')).toThrow(error);
      expect(() => checkWeight(value, 'weight')).toThrow(/^weight must be .*, got /);
    },
  );

  it('passes on the weight', () => {
    expect([1, 1e12].map((n) => checkWeight(n))).toEqual([1, 1e12]);
  });
});

describe('describeValue', () => {
  it('quotes text, names the type of the rest, and stays short', () => {
    expect(describeValue('5')).toBe("'5'");
    expect(describeValue(null)).toBe('null');
    expect(describeValue(undefined)).toBe('undefined');
    expect(describeValue(5n)).toBe('5 (bigint)');
    expect(describeValue('x'.repeat(10_000)).length).toBeLessThan(100);
    expect(describeValue({ toString: () => 'y'.repeat(10_000) }).length).toBeLessThan(100);
  });

  it('describes also what cannot be made a text', () => {
    expect(describeValue(Symbol('s'))).toBe('Symbol(s) (symbol)');
    expect(describeValue(Object.create(null))).toMatch(/\(object\)$/);
    const hostile = {
      toString() {
        throw new Error('no');
      },
    };
    expect(describeValue(hostile)).toMatch(/\(object\)$/);
  });
});
