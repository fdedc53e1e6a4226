/** A pair of an RPC type and a table (or any other key). */
export interface PairKey {
  readonly rpc: string;
  readonly table: string;
}

export interface PairRate extends PairKey {
  /** Calls per second. */
  readonly qps: number;
}

export interface PairLimit extends PairKey {
  /** Calls per second, evenly spaced. */
  readonly qpsLimit: number;
}

/**
 * What to do to one strict limiter. `resetReservation`: queued callers are planned anew at the new rate (a relaxing
 * change); otherwise they keep the times that they have. A removed limit lets them go at once.
 */
export type LimitAction =
  | {
      readonly type: 'set_limit';
      readonly rpc: string;
      readonly table: string;
      readonly qpsLimit: number;
      readonly resetReservation: boolean;
    }
  | { readonly type: 'remove_limit'; readonly rpc: string; readonly table: string };

/** One string per pair. RPC types hold no NUL. */
export function pairId({ rpc, table }: PairKey): string {
  return `${rpc}\u0000${table}`;
}
