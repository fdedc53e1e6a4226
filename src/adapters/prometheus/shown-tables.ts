import type { LimitSnapshot, RuntimeSnapshot } from '../../workers/snapshot.js';
import { labelValue } from './label-value.js';

export interface ShownTable {
  readonly labels: { readonly rpc: string; readonly table: string };
  readonly limit: LimitSnapshot;
}

/** Of one RPC type, added up. */
export interface TableSums {
  tables: number;
  qpsLimit: number;
  currentQps: number;
}

export interface ShownTables {
  readonly shown: readonly ShownTable[];
  /** Of every RPC type: the tables that are not shown. */
  readonly rest: ReadonlyMap<string, Readonly<TableSums>>;
}

/**
 * Which throttled pairs get series of their own: the first `max` by RPC type and table, so that a scrape shows the same ones
 * as the last.
 */
export function shownTables({ limits, rpcs }: RuntimeSnapshot, max: number): ShownTables {
  const sorted =
    limits.length <= max
      ? limits
      : limits.toSorted((a, b) => compare(a.rpc, b.rpc) || compare(a.table, b.table));
  const shown = sorted.slice(0, max).map((limit) => ({
    labels: { rpc: limit.rpc, table: labelValue(limit.table) },
    limit,
  }));
  const rest = new Map<string, TableSums>(
    rpcs.map(({ rpc }) => [rpc, { tables: 0, qpsLimit: 0, currentQps: 0 }]),
  );
  for (const { rpc, qpsLimit, currentQps } of sorted.slice(max)) {
    const sums = rest.get(rpc);
    if (sums === undefined) continue;
    sums.tables += 1;
    sums.qpsLimit += qpsLimit;
    sums.currentQps += currentQps;
  }
  return { shown, rest };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
