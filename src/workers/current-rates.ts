/** The measured rate of a throttled pair, left in its cell for whoever takes a snapshot. Control thread writes. */

import type { PairLimit } from '../actors/throttle/limit-action.js';
import type { Arena } from '../shared/arena.js';
import { CELL_FIELD } from '../shared/directory/cell.js';
import type { KeyDirectory } from '../shared/key-directory.js';
import type { PairStore } from './pair-store.js';

export interface MeasuredLimit extends PairLimit {
  readonly currentQps: number;
}

export function noteCurrentRates(
  { f64 }: Arena,
  pairs: PairStore,
  directory: KeyDirectory,
  limits: readonly MeasuredLimit[],
): void {
  for (const { rpc, table, currentQps } of limits) {
    const found = pairs.locate(rpc, table);
    if (found !== undefined)
      f64[(directory.cellAt(found.cell) + CELL_FIELD.CURRENT_QPS) >>> 3] = currentQps;
  }
}
