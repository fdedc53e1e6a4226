import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Grant, type Terms, tightestWindow, worstExcess } from './grant-bound.js';

describe('worstExcess', () => {
  const at = (...seconds: number[]) => seconds.map((s) => ({ atNs: s * 1e9, n: 1 }));
  const steady = [{ fromNs: 0, qps: 1, burst: 2 }];

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

describe('tightestWindow', () => {
  const ms = 1e6;
  const at = (...atMs: readonly number[]): Grant[] =>
    atMs.map((time) => ({ fromNs: time * ms, toNs: time * ms, n: 1 }));
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
    const wide: Grant = { fromNs: 0, toNs: 10 * ms, n: 1 };
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

  it('gives a fresh bucket to windows that may hold its moment, and to no other', () => {
    const fresh = [...terms, { qps: 100, burst: 3, fromNs: 50 * ms, toNs: 60 * ms, fresh: true }];
    expect(tightestWindow(at(55, 55, 55, 55, 55, 55), fresh).excess).toBeLessThanOrEqual(0);
    expect(tightestWindow(at(61, 61, 61, 61), fresh).excess).toBeCloseTo(1);
    expect(tightestWindow(at(49, 49, 49, 49), fresh).excess).toBeCloseTo(1);
  });

  it('finds what looking at every window by its definition finds', () => {
    const span = fc
      .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 8 }))
      .map(([from, length]) => ({ fromNs: from * ms, toNs: (from + length) * ms }));
    const grant = fc
      .tuple(span, fc.integer({ min: 1, max: 4 }))
      .map(([moment, n]): Grant => ({ ...moment, n }));
    const qps = fc.constantFrom(10, 100, 1000);
    fc.assert(
      fc.property(fc.array(grant, { minLength: 1, maxLength: 25 }), qps, (grants, rate) => {
        const steady: Terms[] = [{ qps: rate, burst: 3, fromNs: 0, toNs: 0 }];
        let worst = Number.NEGATIVE_INFINITY;
        for (const { fromNs } of grants) {
          for (const { toNs } of grants) {
            const inside = grants.filter((one) => one.fromNs >= fromNs && one.toNs <= toNs);
            if (inside.length === 0) continue;
            const granted = inside.reduce((sum, { n }) => sum + n, 0);
            worst = Math.max(worst, granted - 3 - (rate * (toNs - fromNs)) / 1e9);
          }
        }
        const found = tightestWindow(grants, steady);
        expect(found.excess).toBeCloseTo(worst, 6);
        expect(found.granted - found.allowed).toBeCloseTo(worst, 6);
      }),
      { numRuns: 500 },
    );
  });
});
