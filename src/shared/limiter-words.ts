/** Reads the words of limiters for what the kernel's calls do not tell: terms, plans and bookings. No decisions. */
import type { BookedTerms, Booking } from './booking.js';
import { BUCKET_SLOTS, CELL, EPOCH_SHIFT, INTERVAL_MASK, PLAN_SHIFT, SLOT } from './kernel/port.js';

/** One limiter in the arena: where its word is and how the slots behind it are read. */
export interface LimiterWords {
  /** Config epoch in force. */
  epoch(): number;
  /** Terms of `epoch`; only the newest 7 (a bucket) or 3 (a pair) are still there. */
  terms(epoch: number): BookedTerms;
  /** The changes after `epoch`, oldest first; undefined when too many came since. */
  changesSince(epoch: number): readonly BookedTerms[] | undefined;
  /** Rate in force, 0 where nothing is limited. */
  qps(): number;
}

const EPOCHS = 64;
const CELL_SLOTS = 4;
const CELL_SLOT_BYTES = 16;

function limiterWords(
  views: { readonly u64: BigUint64Array; readonly f64: Float64Array },
  word: number,
  kept: number,
  terms: (epoch: number) => BookedTerms,
  qpsAt: (epoch: number) => number,
): LimiterWords {
  const epoch = (): number => Number(Atomics.load(views.u64, word >>> 3) >> EPOCH_SHIFT);
  return {
    epoch,
    terms,
    changesSince(since) {
      const now = epoch();
      const count = (now - since + EPOCHS) % EPOCHS;
      if (count >= kept) return undefined;
      return Array.from({ length: count }, (_, i) => terms((since + 1 + i) % EPOCHS));
    },
    qps() {
      const now = epoch();
      return terms(now).intervalNs === 0 ? 0 : qpsAt(now);
    },
  };
}

export interface WordViews {
  readonly u64: BigUint64Array;
  readonly f64: Float64Array;
}

export function bucketWords(views: WordViews, bucket: number): LimiterWords {
  const slot = (epoch: number): number => bucket + BUCKET_SLOTS + (epoch & 7) * 64;
  const u64 = (offset: number): number => Number(views.u64[offset >>> 3]);
  const terms = (epoch: number): BookedTerms => ({
    epoch,
    plan: u64(slot(epoch) + SLOT.PLAN),
    intervalNs: u64(slot(epoch) + SLOT.INTERVAL),
    tauNs: u64(slot(epoch) + SLOT.TAU),
    changedAtNs: u64(slot(epoch) + SLOT.CHANGED_AT),
  });
  return limiterWords(
    views,
    bucket,
    8,
    terms,
    (epoch) => views.f64[(slot(epoch) + SLOT.QPS) >>> 3] as number,
  );
}

export function cellWords(views: WordViews, cell: number): LimiterWords {
  const slot = (epoch: number): number => cellSlot(cell, epoch);
  const terms = (epoch: number): BookedTerms => {
    const packed = views.u64[slot(epoch) >>> 3] as bigint;
    const intervalNs = Number(packed & INTERVAL_MASK);
    return {
      epoch,
      plan: Number(packed >> PLAN_SHIFT),
      intervalNs,
      tauNs: intervalNs,
      changedAtNs: 0,
    };
  };
  return limiterWords(
    views,
    cell + CELL.WORD,
    CELL_SLOTS,
    terms,
    (epoch) => views.f64[(slot(epoch) + 8) >>> 3] as number,
  );
}

/** Rate in force of a pair, 0 where nothing is limited: as `cellWords(views, cell).qps()`, for looking at many of them. */
export function cellQps({ u64, f64 }: WordViews, cell: number): number {
  // Most cells have no limit in any slot: look before reading on.
  for (let slot = 0; slot < CELL_SLOTS; slot++) {
    const terms = u64[cellSlot(cell, slot) >>> 3] as bigint;
    if ((terms & INTERVAL_MASK) === 0n) continue;
    const epoch = Number(Atomics.load(u64, (cell + CELL.WORD) >>> 3) >> EPOCH_SHIFT);
    const inForce = cellSlot(cell, epoch);
    const isLimited = ((u64[inForce >>> 3] as bigint) & INTERVAL_MASK) !== 0n;
    return isLimited ? (f64[(inForce + 8) >>> 3] as number) : 0;
  }
  return 0;
}

function cellSlot(cell: number, epoch: number): number {
  return cell + CELL.SLOTS + (epoch & (CELL_SLOTS - 1)) * CELL_SLOT_BYTES;
}

/** The booking that a reservation has just left in the thread's scratch words. */
export function bookingAt(
  views: WordViews,
  words: LimiterWords,
  out: number,
  n: number,
  atNs: number,
): Booking {
  const undo = undoAt(views, out);
  const { epoch, plan, intervalNs } = words.terms(Number(undo.end >> EPOCH_SHIFT));
  return { n, atNs, epoch, plan, intervalNs, undo };
}

/** How to undo what the kernel has just taken: what it left in the thread's scratch words. */
export function undoAt({ u64 }: WordViews, out: number): NonNullable<Booking['undo']> {
  return { begin: u64[out >>> 3] as bigint, end: u64[(out + 8) >>> 3] as bigint };
}
