import { beforeEach, describe, expect, it } from 'vitest';
import { type Arena, createArena } from '../../src/shared/arena.js';
import {
  markRpc,
  publishRpcNames,
  readRpcNames,
  rpcCount,
  rpcMarks,
} from '../../src/shared/rpc-names.js';

const LONGEST = 'x'.repeat(64);

describe('the names of RPC types in the arena', () => {
  let arena: Arena;
  beforeEach(() => {
    ({ arena } = createArena({ threads: 1, rpcs: 3, pairs: 1 }, true));
  });

  it('are none at first', () => {
    expect(readRpcNames(arena)).toEqual([]);
  });

  it('read as they were published, up to the longest', () => {
    publishRpcNames(arena, ['get_rowset', LONGEST, 'a']);
    expect(readRpcNames(arena)).toEqual(['get_rowset', LONGEST, 'a']);
  });

  it('are added behind those that are there, which never change', () => {
    publishRpcNames(arena, ['a']);
    publishRpcNames(arena, ['a', 'b']);
    publishRpcNames(arena, ['a', 'b']);
    expect(readRpcNames(arena)).toEqual(['a', 'b']);
  });

  it('do not fit beyond the capacity, and then nothing is published', () => {
    expect(() => publishRpcNames(arena, ['a', 'b', 'c', 'd'])).toThrow(
      new RangeError('capacity.rpcs must be at least 4, got 3'),
    );
    expect(rpcCount(arena)).toBe(0);
  });

  it('are seen by a reader only once they are whole', () => {
    const { name } = arena.layout;
    // A writer that was killed after the bytes of a name and before the count.
    new Uint8Array(arena.buffer).set([1, 0, 120], name(0));
    expect(readRpcNames(arena)).toEqual([]);
    publishRpcNames(arena, ['yz']);
    expect(readRpcNames(arena)).toEqual(['yz']);
  });

  it('carry marks beside them that change', () => {
    publishRpcNames(arena, ['a', LONGEST]);
    const bytes = new Uint8Array(arena.buffer);
    const at = arena.layout.name(1);
    for (const marks of [0, 1, 3, 2, 0]) {
      markRpc(bytes, at, marks);
      expect(rpcMarks(bytes, at)).toBe(marks);
    }
    expect(rpcMarks(bytes, arena.layout.name(0))).toBe(0);
    expect(readRpcNames(arena)).toEqual(['a', LONGEST]);
  });
});
