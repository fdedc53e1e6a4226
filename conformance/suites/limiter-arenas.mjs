/**
 * @typedef {import('../../src/shared/arena.js').Arena} Arena
 * @typedef {{ readonly name: string, readonly fresh: () => Arena }} LimiterArena
 */

/** Bytes between cells that a suite uses: a cell has 240. */
export const CELL_STRIDE = 256;

/**
 * One arena for the kernel and one for its twin. `fresh` empties it: a shared WebAssembly memory reserves too much
 * address space to make one per case.
 *
 * @param {Pick<import('../load-built.mjs').Subject, 'createArena'>} subject
 * @param {number} pairs
 * @returns {LimiterArena[]}
 */
export function limiterArenas({ createArena }, pairs) {
  return [false, true].map((twin) => {
    /** @type {Arena | undefined} */
    let arena;
    return {
      name: twin ? 'twin' : 'kernel',
      fresh() {
        arena ??= open(twin);
        arena.u64.fill(0n);
        return arena;
      },
    };
  });

  /** @param {boolean} twin */
  function open(twin) {
    const { arena, fallback } = createArena({ threads: 1, rpcs: 1, pairs }, twin);
    if (fallback !== undefined) throw fallback;
    return arena;
  }
}

/**
 * Where a cell may lie in an arena whose directory is not used.
 *
 * @param {Arena} arena
 * @param {number} index
 */
export function strictPlace({ layout }, index) {
  const { scratch, stats } = layout.thread(0);
  return { cell: layout.directory + index * CELL_STRIDE, stats: stats(0, 'table'), scratch };
}
