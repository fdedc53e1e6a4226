// The loop runs inside the kernel: what an atomic costs there, without the call from JavaScript.
import { createArena } from '../../dist/shared/arena.js';
import { timeLoop } from '../harness/time-loop.mjs';

export function measure() {
  const { arena, fallback } = createArena({ threads: 1, rpcs: 1, pairs: 16 }, false);
  if (fallback !== undefined) throw fallback;
  const { kernel, layout, u64 } = arena;
  // A bucket's word: nothing else uses it here.
  const word = layout.bucket(0, false);
  return timeLoop((n) => {
    const before = u64[word / 8] ?? 0n;
    kernel.addLoop(word, n);
    return Number((u64[word / 8] ?? 0n) - before);
  });
}
