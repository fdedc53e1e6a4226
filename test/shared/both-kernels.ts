/** The two kernels under test, each on an arena of its own, whatever `SPILLWAY_KERNEL` says. */
import { type Arena, createArena } from '../../src/shared/arena.js';
import type { Capacity } from '../../src/shared/layout.js';
import type { StrictPlace } from '../../src/shared/strict-limiter.js';
import type { BucketPlace } from '../../src/shared/token-bucket.js';

export interface KernelArena {
  readonly kind: 'wasm' | 'twin';
  /** The arena, empty again: a shared WebAssembly memory reserves too much address space for one per test. */
  fresh(): Arena;
}

const SMALL: Capacity = { threads: 4, rpcs: 4, pairs: 32 };

export function bothKernels(capacity: Capacity = SMALL): readonly KernelArena[] {
  return (['wasm', 'twin'] as const).map((kind) => {
    let arena: Arena | undefined;
    return {
      kind,
      fresh() {
        arena ??= open(capacity, kind);
        arena.u64.fill(0n);
        return arena;
      },
    };
  });
}

function open(capacity: Capacity, kind: 'wasm' | 'twin'): Arena {
  const { arena, fallback } = createArena(capacity, kind === 'twin');
  if (fallback !== undefined) throw fallback;
  return arena;
}

/** The bucket of RPC type 0 as the thread at place `thread` uses it. */
export function bucketPlace({ layout }: Arena, thread = 0): BucketPlace {
  const { scratch, stats } = layout.thread(thread);
  return { bucket: layout.bucket(0, false), stats: stats(0, 'host'), scratch };
}

/** A cell in an arena whose directory is not used, as the thread at place `thread` uses it. */
export function strictPlace({ layout }: Arena, thread = 0): StrictPlace {
  const { scratch, stats } = layout.thread(thread);
  return { cell: layout.directory, stats: stats(0, 'table'), scratch };
}

/** A thread's counter in the stats block at `stats`. */
export const counter = ({ f64 }: Arena, stats: number, offset: number): number =>
  f64[(stats + offset) >>> 3] as number;
