import { beforeEach, describe, expect, it } from 'vitest';
import { type Arena, createArena } from '../../src/shared/arena.js';
import { TooManyThreadsError } from '../../src/shared/errors.js';
import { STATS } from '../../src/shared/kernel/port.js';
import { CALL_STATS, THREAD } from '../../src/shared/layout.js';
import { publishRpcNames } from '../../src/shared/rpc-names.js';
import { ThreadRegistry } from '../../src/workers/thread-registry.js';

describe('thread registry', () => {
  let arena: Arena;
  let registry: ThreadRegistry;
  beforeEach(() => {
    ({ arena } = createArena({ threads: 3, rpcs: 2, pairs: 1 }, true));
    publishRpcNames(arena, ['a', 'b']);
    registry = new ThreadRegistry(arena);
  });

  it('gives out the first free place, and tells it from earlier claims of the same', () => {
    expect(registry.claim(5)).toEqual({ index: 0, claim: 1 });
    const second = registry.claim(6);
    expect(second).toEqual({ index: 1, claim: 1 });
    registry.free(second);
    expect(registry.claim(7)).toEqual({ index: 1, claim: 3 });
    expect(registry.ownerOf(1)).toBe(7);
    expect(registry.attached()).toEqual([0, 1]);
  });

  it('refuses one more than there are places, saying which option to raise', () => {
    for (const id of [1, 2, 3]) registry.claim(id);
    expect(() => registry.claim(4)).toThrow(TooManyThreadsError);
    expect(() => registry.claim(4)).toThrow(/^capacity\.threads must be above the 3 threads/);
  });

  it('knows the owner’s thread id, that of the main thread included, until the place is given up', () => {
    const place = registry.claim(0);
    expect(registry.ownerOf(place.index)).toBe(0);
    registry.abandon(place, 0);
    expect(registry.ownerOf(place.index)).toBeUndefined();
    expect(registry.attached()).toEqual([0]);
    registry.free(place);
    expect(registry.attached()).toEqual([]);
  });

  it('does nothing by an old claim', () => {
    const old = registry.claim(1);
    registry.free(old);
    const place = registry.claim(2);
    registry.watch(place.index, 4);
    expect(registry.free(old)).toBe(false);
    registry.abandon(old, 1);
    expect(registry.ownerOf(place.index)).toBe(2);
    expect(registry.watchedBy(place.index)).toBe(4);
    expect(registry.quiescence.passed(registry.quiescence.request())).toBe(false);
  });

  it('forgets who watched the place before', () => {
    const old = registry.claim(1);
    registry.watch(old.index, 4);
    registry.free(old);
    expect(registry.watchedBy(registry.claim(2).index)).toBe(0);
  });

  it('counts what a dead thread held as lost, once, and ends what it had under way', () => {
    const place = registry.claim(1);
    const { stats, header, calls } = arena.layout.thread(place.index);
    const put = (offset: number, value: number): void => {
      arena.f64[offset >>> 3] = value;
    };
    const lost = (rpcId: number, stage: 'host' | 'table'): number =>
      arena.f64[(stats(rpcId, stage) + STATS.LOST) >>> 3] as number;
    put(stats(1, 'host') + STATS.DIRECT, 100);
    put(stats(1, 'host') + STATS.RESERVED, 10);
    put(stats(1, 'host') + STATS.SPENT, 5);
    put(stats(1, 'host') + STATS.RETURNED, 2);
    put(stats(1, 'host') + STATS.LOST, 1);
    put(stats(0, 'table') + STATS.RESERVED, 3);
    put(header + THREAD.ACTIVE, 2);
    put(calls(1) + CALL_STATS.HOST_WAITING, 4);
    put(calls(0) + CALL_STATS.TABLE_WAITING, 5);
    put(calls(0) + CALL_STATS.RETRIES, 6);
    put(header + THREAD.BUSY, 7);
    expect(registry.free(place)).toBe(true);
    expect(registry.free(place)).toBe(false);
    expect([lost(1, 'host'), lost(0, 'table'), lost(0, 'host')]).toEqual([3, 3, 0]);
    expect(arena.f64[(header + THREAD.ACTIVE) >>> 3]).toBe(0);
    expect(arena.f64[(calls(1) + CALL_STATS.HOST_WAITING) >>> 3]).toBe(0);
    expect(arena.f64[(calls(0) + CALL_STATS.TABLE_WAITING) >>> 3]).toBe(0);
    // Totals outlive the thread.
    expect(arena.f64[(calls(0) + CALL_STATS.RETRIES) >>> 3]).toBe(6);
    expect(arena.f64[(header + THREAD.BUSY) >>> 3]).toBe(7);
    expect(arena.f64[(stats(1, 'host') + STATS.DIRECT) >>> 3]).toBe(100);
  });

  it('holds up the reuse of memory only for threads that are attached', () => {
    const place = registry.claim(1);
    const epoch = registry.quiescence.request();
    expect(registry.quiescence.passed(epoch)).toBe(false);
    registry.free(place);
    expect(registry.quiescence.passed(epoch)).toBe(true);
  });
});
