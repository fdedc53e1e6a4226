import { describe, expect, it } from 'vitest';
import { findReleaseFaults } from '../../demo/run/release-order.js';

/** An entry at `level` whose only limits are of the tables, in order a, b, ... */
function entry(level: number, ...qpsLimits: number[]) {
  const limits = qpsLimits.map((qpsLimit, index) => ({
    rpc: 'commit_rowset',
    table: String.fromCharCode(97 + index),
    qpsLimit,
  }));
  return { atMs: 0, level, limits };
}

describe('findReleaseFaults', () => {
  it('accepts levels that go as they came', () => {
    const timeline = [entry(0), entry(1, 80), entry(2, 60, 90), entry(1, 80), entry(0)];
    expect(findReleaseFaults(timeline)).toEqual([]);
  });

  it('accepts a level that comes back after a probe, with other limits', () => {
    const timeline = [
      entry(1, 80),
      entry(2, 60),
      entry(1, 80),
      entry(2, 60, 70),
      entry(1, 80),
      entry(0),
    ];
    expect(findReleaseFaults(timeline)).toEqual([]);
  });

  it('finds a level released to other limits than it was built on', () => {
    const faults = findReleaseFaults([entry(1, 80), entry(2, 60), entry(1, 70)]);
    expect(faults).toEqual([
      expect.stringContaining('level 1 came back with commit_rowset a 70.000'),
    ]);
  });

  it.each([
    ['two at once', [entry(1, 80), entry(2, 60), entry(0)]],
    ['none, but its limits change', [entry(1, 80), entry(2, 60), entry(2, 50)]],
    ['two that come at once', [entry(2, 60)]],
  ])('finds levels that go wrong: %s', (_name, timeline) => {
    expect(findReleaseFaults(timeline)).toHaveLength(1);
  });

  it('finds a limit that outlives its level', () => {
    expect(findReleaseFaults([entry(1, 80), entry(0, 80)])).toHaveLength(1);
  });
});
