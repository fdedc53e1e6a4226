import { describe, expect, it } from 'vitest';
import { createArena, openArena } from '../../src/shared/arena.js';
import { TakeCode } from '../../src/shared/kernel/port.js';

const CAPACITY = { threads: 2, rpcs: 2, pairs: 8 };

describe.each([
  ['wasm', false],
  ['twin', true],
] as const)('an arena with the %s kernel', (kind, twin) => {
  it('is empty, and has room for its layout', () => {
    const { arena, fallback } = createArena(CAPACITY, twin);
    expect(fallback).toBeUndefined();
    expect(arena.kernel.kind).toBe(kind);
    expect(arena.buffer.byteLength).toBeGreaterThanOrEqual(arena.layout.bytes);
    expect(arena.u64.every((word) => word === 0n)).toBe(true);
  });

  it('is the same memory for whoever opens its handle', () => {
    const { arena, handle } = createArena(CAPACITY, twin);
    const other = openArena(handle);
    expect(other.kernel.kind).toBe(kind);
    const bucket = arena.layout.bucket(1, false);
    const { stats } = arena.layout.thread(1);
    arena.kernel.configure(bucket, 0, 1e8, 2e8, 10, 2, 0);
    expect(other.kernel.tryAcquire(bucket, stats(1, 'host'), 0, 2)).toBe(TakeCode.GRANTED);
    expect(arena.kernel.available(bucket, 0)).toBe(0);
    other.kernel.close();
    expect(arena.kernel.tryAcquire(bucket, stats(1, 'host'), 1e9, 1)).toBe(TakeCode.CLOSED);
  });
});

describe('createArena', () => {
  it('falls back to the twin, and says why, where shared WebAssembly memory is refused', () => {
    const scope = globalThis as unknown as { WebAssembly: { Memory: unknown } };
    const { Memory } = scope.WebAssembly;
    const refusal = new RangeError('could not allocate memory');
    scope.WebAssembly.Memory = function refuse() {
      throw refusal;
    };
    try {
      const { arena, handle, fallback } = createArena(CAPACITY, false);
      expect(fallback).toBe(refusal);
      expect(arena.kernel.kind).toBe('twin');
      expect(openArena(handle).kernel.kind).toBe('twin');
    } finally {
      scope.WebAssembly.Memory = Memory;
    }
  });

  it('cannot open a handle without memory', () => {
    expect(() => openArena({ capacity: CAPACITY })).toThrow(/memory or a buffer, got neither/);
  });
});
