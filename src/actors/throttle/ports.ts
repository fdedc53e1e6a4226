import type { LimitAction, PairKey, PairLimit } from './limit-action.js';

/** A pair's place. A cell that is reused for another pair has another generation. */
export interface PairCell {
  readonly cell: number;
  readonly generation: number;
}

export type PairVisitor = (
  cell: number,
  generation: number,
  rpcId: number,
  /** Calls asked for since the cell came alive, at most 2^53. */
  count: number,
) => void;

/** Port: the pairs that calls are counted for. Only the thread of the actors removes any. */
export interface PairSource {
  /** Cells are numbered from 0 to `capacity - 1`. */
  readonly capacity: number;
  /** Visits every live pair once, in any order. RPC ids are integers from 0 to 65,535. */
  visit(visitor: PairVisitor): void;
  /** The pair in a live cell. */
  describe(cell: number): PairKey;
  /** Where a pair lives; undefined when nothing was counted for it. */
  locate(rpc: string, table: string): PairCell | undefined;
  /** undefined: no such RPC type. */
  rpcId(rpc: string): number | undefined;
  /** Gives a pair's cell back. false: refused, because it has a limit or waiters, or was reused. */
  drop(cell: number, generation: number): boolean;
}

/** Port: the strict limiters. */
export interface LimitPort {
  /** All of them take effect before it returns. */
  apply(actions: readonly LimitAction[]): void;
  /** Every limit that stands, also after a restart of the thread that set it. */
  inForce(): readonly PairLimit[];
}
