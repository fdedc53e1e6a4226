import type { Arena } from '../../shared/arena.js';
import { KeyDirectory } from '../../shared/key-directory.js';
import type { RpcTable } from '../rpc-table.js';
import type { PairCounts } from './hot-pairs.js';

/** The counts of all pairs, as they stand in the arena. */
export function pairCounts({ buffer, layout }: Arena, rpcs: RpcTable): PairCounts {
  const { pairs: capacity } = layout.capacity;
  const directory = new KeyDirectory(buffer, layout.directory, capacity);
  return {
    capacity,
    visit(seen) {
      directory.visit((index, generation, _space, count) => seen(index, generation, count));
    },
    name(index, generation) {
      const cell = directory.cellAt(index);
      const { space, key: table } = directory.describe(cell);
      const rpc = rpcs.all()[space]?.name;
      // After the key was read: otherwise it may be that of the pair that has the place now.
      if (rpc === undefined || directory.generationOf(cell) !== generation) return undefined;
      return { rpc, table };
    },
  };
}
