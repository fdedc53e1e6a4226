/**
 * Outcomes of the last `windowMs`, in slots that each carry the number of their period: a slot of an earlier period counts
 * nothing, however long nobody looked, and is begun anew by the first outcome of a later one. Nothing has to be cleared
 * by a timer.
 */
export interface WindowSlot {
  /** Number of the stretch of `windowMs / WINDOW_SLOTS`, counted from the epoch of the runtime. */
  readonly period: number;
  readonly total: number;
  readonly failures: number;
}

export interface WindowCounts {
  readonly total: number;
  readonly failures: number;
}

/** As many as a cell has room for. */
export const WINDOW_SLOTS = 7;
/** What a slot in the arena holds; beyond it both counts are halved, which keeps the rate. */
export const MAX_SLOT_COUNT = 65_535;

export function periodOf(nowMs: number, windowMs: number): number {
  return Math.floor((nowMs * WINDOW_SLOTS) / windowMs);
}

/** Which slot a period has. */
export function slotOf(period: number): number {
  return period % WINDOW_SLOTS;
}

/** The slot after one outcome in `period`. An outcome of a period that is over already is left out. */
export function countOutcome(
  slot: WindowSlot | undefined,
  period: number,
  failed: boolean,
): WindowSlot {
  if (slot !== undefined && slot.period > period) return slot;
  const fresh = slot === undefined || slot.period < period;
  const total = (fresh ? 0 : slot.total) + 1;
  const failures = (fresh ? 0 : slot.failures) + (failed ? 1 : 0);
  if (total <= MAX_SLOT_COUNT) return { period, total, failures };
  return { period, total: total >>> 1, failures: failures >>> 1 };
}

/** What the slots of the window that ends with `period` add up to. */
export function countWindow(slots: Iterable<WindowSlot | undefined>, period: number): WindowCounts {
  let total = 0;
  let failures = 0;
  for (const slot of slots) {
    if (slot === undefined || slot.period <= period - WINDOW_SLOTS) continue;
    total += slot.total;
    failures += slot.failures;
  }
  return { total, failures };
}
