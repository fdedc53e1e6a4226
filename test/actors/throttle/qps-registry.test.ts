import { describe, expect, it } from 'vitest';
import type { PairVisitor } from '../../../src/actors/throttle/ports.js';
import { QpsRegistry } from '../../../src/actors/throttle/qps-registry.js';
import { MemoryPairs } from './memory-pairs.js';

function createRegistry(pairs: MemoryPairs, windowMs = 1000, sampleMs = 100): QpsRegistry {
  return new QpsRegistry({ capacity: pairs.capacity, windowMs, sampleMs });
}

/** Samples every 100 ms up to `toMs`, with `perSample` calls of a/1 before each. */
function run(
  registry: QpsRegistry,
  pairs: MemoryPairs,
  fromMs: number,
  toMs: number,
  perSample = 0,
) {
  for (let atMs = fromMs + 100; atMs <= toMs; atMs += 100) {
    if (perSample > 0) pairs.add('a', '1', perSample);
    registry.sample(pairs, atMs);
  }
}

function qpsOf(registry: QpsRegistry, pairs: MemoryPairs, table = '1'): number {
  const cell = pairs.locate('a', table);
  return cell === undefined ? 0 : registry.qps(cell);
}

describe('a rate', () => {
  it('counts nothing of what a pair did before the first sample: a successor starts among old counters', () => {
    const pairs = new MemoryPairs();
    pairs.add('a', '1', 1_000_000);
    const registry = createRegistry(pairs);
    registry.sample(pairs, 0);
    run(registry, pairs, 0, 1000, 2);
    expect(qpsOf(registry, pairs)).toBe(20);
  });

  it('of a pair that is new counts all that it did since it appeared', () => {
    const pairs = new MemoryPairs();
    const registry = createRegistry(pairs);
    registry.sample(pairs, 0);
    run(registry, pairs, 0, 2000);
    pairs.add('a', '1', 50);
    registry.sample(pairs, 2100);
    expect(qpsOf(registry, pairs)).toBe(50);
  });

  it('starts anew when its cell was reused, though the counter is lower', () => {
    const pairs = new MemoryPairs();
    const registry = createRegistry(pairs);
    registry.sample(pairs, 0);
    run(registry, pairs, 0, 1000, 100);
    const old = pairs.locate('a', '1');
    expect(pairs.drop(old?.cell as number, old?.generation as number)).toBe(true);
    pairs.add('a', '2', 30);
    expect(pairs.locate('a', '2')?.cell).toBe(old?.cell);
    registry.sample(pairs, 1100);
    expect(qpsOf(registry, pairs, '2')).toBe(30);
    expect(registry.qps(old as { cell: number; generation: number })).toBe(0);
    expect(registry.hottest(5, [0])).toMatchObject([{ qps: 30 }]);
  });

  it('is right across the end of 32 bits', () => {
    const pairs = new MemoryPairs();
    pairs.add('a', '1', 2 ** 32 - 50);
    const registry = createRegistry(pairs);
    registry.sample(pairs, 0);
    run(registry, pairs, 0, 1000, 10);
    expect(qpsOf(registry, pairs)).toBe(100);
  });

  it('is an average over what really passed when a sample came late or a stall kept them away', () => {
    const pairs = new MemoryPairs();
    const registry = createRegistry(pairs);
    registry.sample(pairs, 0);
    run(registry, pairs, 0, 2000, 10);
    pairs.add('a', '1', 1000);
    registry.sample(pairs, 12_000);
    expect(qpsOf(registry, pairs)).toBe(100);
    run(registry, pairs, 12_000, 13_100, 10);
    expect(qpsOf(registry, pairs)).toBe(100);
  });

  it('does not suffer from samples that come a little early or late', () => {
    const pairs = new MemoryPairs();
    const registry = createRegistry(pairs);
    registry.sample(pairs, 0);
    for (let i = 1; i <= 50; i += 1) {
      pairs.add('a', '1', 10);
      registry.sample(pairs, i * 100 + (i % 3) * 7 - 7);
    }
    expect(qpsOf(registry, pairs)).toBeCloseTo(100, -1);
  });

  it('is 0 before there are two samples', () => {
    const pairs = new MemoryPairs();
    pairs.add('a', '1', 10);
    const registry = createRegistry(pairs);
    expect(qpsOf(registry, pairs)).toBe(0);
    expect(registry.hottest(3, [0])).toEqual([]);
    registry.sample(pairs, 0);
    expect(qpsOf(registry, pairs)).toBe(0);
    expect(registry.hottest(3, [0])).toEqual([]);
  });

  it('does not jump when a pair was out of sight for a while', () => {
    let visible = true;
    let count = 5_000_000;
    const source = {
      visit: (visitor: PairVisitor) => {
        if (visible) visitor(0, 1, 0, count);
      },
    };
    const registry = new QpsRegistry({ capacity: 1, windowMs: 1000, sampleMs: 100 });
    for (let i = 0; i <= 20; i += 1) {
      visible = i !== 10;
      count += 10;
      registry.sample(source, i * 100);
    }
    expect(registry.qps({ cell: 0, generation: 1 })).toBeCloseTo(90, 5);
  });
});

describe('a sweep', () => {
  it('drops what has been idle, once, and keeps what is refused', () => {
    const pairs = new MemoryPairs();
    const registry = createRegistry(pairs);
    pairs.add('a', 'idle', 1);
    pairs.add('a', 'limited', 1);
    pairs.pin('a', 'limited', true);
    registry.sample(pairs, 0);
    run(registry, pairs, 0, 60_000, 1);
    const drop = pairs.drop.bind(pairs);
    expect(registry.sweep(60_000, 60_000, drop)).toBe(1);
    expect(pairs.dropped).toEqual(['a/idle']);
    expect(registry.tracked()).toBe(2);
    expect(registry.sweep(60_000, 60_000, drop)).toBe(0);
    pairs.pin('a', 'limited', false);
    registry.sample(pairs, 60_100);
    expect(registry.sweep(60_100, 60_000, drop)).toBe(1);
  });
});

describe('options', () => {
  it.each([
    [{ capacity: 0, windowMs: 1000, sampleMs: 100 }],
    [{ capacity: 1.5, windowMs: 1000, sampleMs: 100 }],
    [{ capacity: 1, windowMs: Number.NaN, sampleMs: 100 }],
    [{ capacity: 1, windowMs: 1000, sampleMs: 0 }],
    [{ capacity: 1, windowMs: 1000, sampleMs: Number.NaN }],
    [{ capacity: 1, windowMs: 1_000_000, sampleMs: 100 }],
    [{ capacity: 1, windowMs: Number.POSITIVE_INFINITY, sampleMs: 100 }],
  ])('%o are refused', (options) => {
    expect(() => new QpsRegistry(options)).toThrow(RangeError);
  });
});
