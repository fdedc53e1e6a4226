import { describe, expect, it } from 'vitest';
import { canonicalKey } from '../../src/shared/table-key.js';

describe('canonicalKey', () => {
  it('gives the bigint, the number and the decimal string of an integer one text', () => {
    expect([canonicalKey(10086n), canonicalKey(10086), canonicalKey('10086')]).toEqual([
      '10086',
      '10086',
      '10086',
    ]);
  });

  it('knows one zero', () => {
    expect([canonicalKey(0), canonicalKey(-0), canonicalKey(0n)]).toEqual(['0', '0', '0']);
  });

  it('keeps texts apart that only look like a number', () => {
    const texts = ['007', '+7', ' 7', '7.0', '7n', '0x7', '-0'];
    expect(texts.map((text) => canonicalKey(text))).toEqual(texts);
  });

  it('takes integers beyond 2^53 as bigints', () => {
    expect(canonicalKey(2n ** 63n - 1n)).toBe('9223372036854775807');
    expect(canonicalKey(-(2n ** 63n))).toBe('-9223372036854775808');
  });

  it.each([
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [2 ** 53, '9007199254740992'],
    [-(2 ** 53), '-9007199254740992'],
  ])('refuses the number %s', (key, shown) => {
    expect(() => canonicalKey(key, 'address')).toThrow(
      new RangeError(`address must be a safe integer (or a bigint), got ${shown}`),
    );
  });

  it('refuses the empty string', () => {
    expect(() => canonicalKey('')).toThrow(
      new RangeError(`table must be a non-empty string, got ''`),
    );
  });

  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    [true, 'a value of type boolean'],
    [[7], 'an array'],
    [{ toString: () => '7' }, 'a value of type object'],
    [Symbol('7'), 'a value of type symbol'],
    [() => 7, 'a value of type function'],
  ])('refuses %s as a type', (key, shown) => {
    expect(() => canonicalKey(key as never)).toThrow(
      new TypeError(`table must be a bigint, number or string, got ${shown}`),
    );
  });
});
