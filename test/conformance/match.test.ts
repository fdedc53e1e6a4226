import { describe, expect, it } from 'vitest';
import { mismatch } from '../../conformance/runner/match.mjs';

const exact = { tol: 1e-9, absTol: 0 };

describe('a result matches', () => {
  it.each([
    ['a subset of its keys', { a: 1 }, { a: 1, b: 2 }],
    ['a subset inside of arrays', { xs: [{ a: 1 }] }, { xs: [{ a: 1, b: 2 }] }],
    ['null where nothing is', { a: null, b: null }, { a: null }],
    ['equal strings and booleans', { a: 'x', b: false }, { a: 'x', b: false }],
    ['an unordered list in any order', { xsUnordered: [1, 2, 2] }, { xs: [2, 1, 2] }],
    [
      'an unordered list that is called so in the result',
      { xsUnordered: [2, 1] },
      { xsUnordered: [1, 2] },
    ],
    [
      'an unordered list whose elements match several',
      { xsUnordered: [{ a: 1 }, { a: 1, b: 2 }] },
      {
        xs: [
          { a: 1, b: 2 },
          { a: 1, b: 3 },
        ],
      },
    ],
    ['empty lists', { xs: [], ysUnordered: [] }, { xs: [], ys: [] }],
  ])('%s', (_what, want, got) => {
    expect(mismatch(want, got, exact)).toBeUndefined();
  });

  it.each([
    ['a missing key', { a: 1 }, { b: 1 }, 'result.a'],
    ['another number', { a: { b: 1 } }, { a: { b: 1.001 } }, 'result.a.b'],
    ['a string for a number', { a: 1 }, { a: '1' }, 'result.a'],
    ['NaN for a number', { a: 1 }, { a: Number.NaN }, 'result.a'],
    ['something where nothing should be', { a: null }, { a: 0 }, 'result.a'],
    ['another order', { xs: [1, 2] }, { xs: [2, 1] }, 'result.xs[0]'],
    ['a longer list', { xs: [1] }, { xs: [1, 2] }, 'result.xs'],
    ['a longer unordered list', { xsUnordered: [1] }, { xs: [1, 2] }, 'result.xsUnordered'],
    [
      'another count of equals',
      { xsUnordered: [1, 1, 2] },
      { xs: [1, 2, 2] },
      'result.xsUnordered',
    ],
    ['no list', { xsUnordered: [] }, {}, 'result.xsUnordered'],
    ['an object for a list', { xs: [] }, { xs: {} }, 'result.xs'],
    ['null for an object', { a: {} }, { a: null }, 'result.a'],
  ])('not %s', (_what, want, got, place) => {
    expect(mismatch(want, got, exact)).toBe(place);
  });

  it('a number within the larger of both tolerances, the bound included', () => {
    expect(mismatch(100, 103, { tol: 0.03, absTol: 0.01 })).toBeUndefined();
    expect(mismatch(100, 103.1, { tol: 0.03, absTol: 0.01 })).toBe('result');
    expect(mismatch(0, 0.01, { tol: 0.03, absTol: 0.01 })).toBeUndefined();
    expect(mismatch(-100, -97, { tol: 0.03, absTol: 0 })).toBeUndefined();
    expect(mismatch(0, 1e-12, exact)).toBe('result');
  });
});
