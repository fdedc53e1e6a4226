import { describe, expect, it } from 'vitest';
import { type Grant, tightestWindow } from './grant-bound.js';

const ms = 1e6;
const at = (...atMs: readonly number[]): Grant[] =>
  atMs.map((time) => ({ thread: 0, fromNs: time * ms, toNs: time * ms, n: 1 }));

describe('tightestWindow', () => {
  const terms = [{ qps: 100, burst: 3, fromNs: 0, toNs: 0 }];

  it('finds no excess where grants follow the rate', () => {
    expect(tightestWindow(at(0, 0, 0, 10, 20, 30), terms).excess).toBeCloseTo(0);
  });

  it('finds the one grant too many, wherever it is', () => {
    expect(tightestWindow(at(0, 500, 900, 900, 900, 900, 2000), terms)).toMatchObject({
      excess: 1,
      granted: 4,
      lengthMs: 0,
    });
  });

  it('counts a grant only in windows that certainly hold it', () => {
    const wide: Grant = { thread: 0, fromNs: 0, toNs: 10 * ms, n: 1 };
    expect(tightestWindow([...at(5, 5, 5), wide], terms).excess).toBeCloseTo(0);
  });

  it('allows what is supplied at each rate, and the larger one while it changes', () => {
    const changed = [...terms, { qps: 1000, burst: 3, fromNs: 100 * ms, toNs: 110 * ms }];
    const grants = [...at(0, 0, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100), ...at(101, 102, 111)];
    expect(tightestWindow(grants, changed).excess).toBeCloseTo(0);
    expect(tightestWindow([...grants, ...at(101)], changed).excess).toBeGreaterThan(0.5);
  });

  it('allows what a late clock may have charged to the past', () => {
    expect(tightestWindow(at(0, 0, 0, 0, 0), terms, 20 * ms).excess).toBeCloseTo(0);
  });
});
