import { type PairLimit, pairId } from './limit-action.js';
import type { LimitChange, ThrottleLevels, UpgradeRecord } from './state-machine.js';

export interface RestoredLevels {
  readonly state: ThrottleLevels;
  /** Limits in force that no record explained; together they are the newest level. */
  readonly unrecorded: number;
  /** Recorded changes that are not in force any more. */
  readonly obsolete: number;
}

/** Limits are kept as intervals: a rate that was stored and read back may differ in its last digits. */
const SAME_RATE = 1e-3;

/**
 * Brings a copy of the history and the limits in force together after a restart. What is in force is the truth, since a
 * crash changes no limit; the copy may be one change too old or too new:
 * - a recorded change that is stricter than what is in force has been undone, or was never made: it is dropped
 * - a limit in force that the records do not lead to counts as one level, the newest, so that it is relaxed like any other
 */
export function restoreLevels(
  history: readonly UpgradeRecord[],
  inForce: readonly PairLimit[],
): RestoredLevels {
  const present = new Map(inForce.map((limit) => [pairId(limit), limit]));
  const reached = new Map<string, number>();
  const records: UpgradeRecord[] = [];
  let obsolete = 0;
  for (const record of history) {
    const changes: LimitChange[] = [];
    for (const change of record.changes) {
      const id = pairId(change);
      const qpsLimit = present.get(id)?.qpsLimit;
      if (qpsLimit === undefined || change.qpsLimit < qpsLimit * (1 - SAME_RATE)) {
        obsolete += 1;
        continue;
      }
      // A change before this one may have been dropped: undoing leads to what is left.
      changes.push({ ...change, previousQpsLimit: reached.get(id) ?? null });
      reached.set(id, change.qpsLimit);
    }
    if (changes.length > 0) records.push({ changes });
  }
  const unexplained = inForce.filter(
    (limit) => !isSame(reached.get(pairId(limit)), limit.qpsLimit),
  );
  if (unexplained.length > 0) {
    const changes = unexplained.map(({ rpc, table, qpsLimit }) => ({
      rpc,
      table,
      qpsLimit,
      previousQpsLimit: reached.get(pairId({ rpc, table })) ?? null,
    }));
    records.push({ changes });
  }
  return {
    state: { limits: present, history: records },
    unrecorded: unexplained.length,
    obsolete,
  };
}

function isSame(recorded: number | undefined, inForce: number): boolean {
  return recorded !== undefined && Math.abs(recorded - inForce) <= inForce * SAME_RATE;
}
