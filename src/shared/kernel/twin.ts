/**
 * The kernel's twin on `Atomics`: the same decisions on the same words, for processes that may not reserve the address
 * space of a shared WebAssembly memory. A thread can be terminated between any two of its steps, so each operation takes
 * effect with its one compare-and-swap and counts afterwards: what dies in between was taken from the bucket and is in
 * no counter, which never grants too much.
 */
import type { AtomicWords } from './atomic-words.js';
import {
  BUCKET_SLOTS,
  CELL,
  CLOCK_WORD,
  EPOCH_SHIFT,
  INTERVAL_MASK,
  type Kernel,
  MAX_DEBT_NS,
  PLAN_SHIFT,
  SLOT,
  STATE_WORD,
  STATS,
  TakeCode,
  TIME_MASK,
} from './port.js';

const MAX_DEBT = BigInt(MAX_DEBT_NS);
const EPOCHS = 64n;
const EPOCH_MASK = (EPOCHS - 1n) << EPOCH_SHIFT;

/** Word index of a byte offset. */
const at = (offset: number): number => offset >>> 3;

export function createTwin(buffer: SharedArrayBuffer, atomics: AtomicWords = Atomics): Kernel {
  const u64 = new BigUint64Array(buffer);
  const f64 = new Float64Array(buffer);
  /** The state as the fast path reads it; who needs an order reads the u64 that it is the lower half of. */
  const state = new Uint32Array(buffer, STATE_WORD, 1);

  const slotOf = (bucket: number, word: bigint): number =>
    bucket + BUCKET_SLOTS + Number((word >> EPOCH_SHIFT) & 7n) * 64;
  const cellSlot = (cell: number, word: bigint): number =>
    cell + CELL.SLOTS + Number((word >> EPOCH_SHIFT) & 3n) * 16;
  const read = (offset: number): bigint => u64[at(offset)] as bigint;
  const count = (counter: number, n: number): void => {
    f64[at(counter)] = (f64[at(counter)] as number) + n;
  };
  const leaveUndo = (out: number, begin: bigint, end: bigint): void => {
    u64[at(out)] = begin;
    u64[at(out + 8)] = end;
  };
  const isClosed = (): boolean => atomics.load(u64, at(STATE_WORD)) !== 0n;
  const later = (a: bigint, b: bigint): bigint => (a > b ? a : b);
  const nextEpoch = (word: bigint): bigint =>
    (((word >> EPOCH_SHIFT) + 1n) % EPOCHS) << EPOCH_SHIFT;

  /** Swaps the word at `offset` for `change(word)` until nobody came between; `undefined` leaves it. */
  const swap = (offset: number, change: (word: bigint) => bigint | undefined): boolean => {
    let word = atomics.load(u64, at(offset));
    for (;;) {
      const next = change(word);
      if (next === undefined) return false;
      const seen = atomics.compareExchange(u64, at(offset), word, next);
      if (seen === word) return true;
      word = seen;
    }
  };

  const take = (bucket: number, counter: number, out: number, now: bigint, n: bigint): number => {
    let word = atomics.load(u64, at(bucket));
    for (;;) {
      const slot = slotOf(bucket, word);
      const interval = read(slot + SLOT.INTERVAL);
      if (interval === 0n) return TakeCode.NOT_ENFORCED;
      const tau = read(slot + SLOT.TAU);
      const cost = interval * n;
      const begin = later(word & TIME_MASK, now);
      const next = begin + cost;
      if (next > now + tau) return cost > tau ? TakeCode.IMPOSSIBLE : TakeCode.REFUSED;
      const epoch = word & EPOCH_MASK;
      const seen = atomics.compareExchange(u64, at(bucket), word, epoch | next);
      if (seen === word) {
        count(counter, Number(n));
        if (out !== 0) leaveUndo(out, epoch | begin, epoch | next);
        return TakeCode.GRANTED;
      }
      word = seen;
    }
  };

  /** The loop of both kinds of reservation: `plan(word)` gives begin, end and wait, or the answer that ends it. */
  const book = (
    offset: number,
    stats: number,
    out: number,
    n: bigint,
    plan: (word: bigint) => { begin: bigint; end: bigint; wait: number } | number,
  ): number => {
    let word = atomics.load(u64, at(offset));
    for (;;) {
      const planned = plan(word);
      if (typeof planned === 'number') return planned;
      const epoch = word & EPOCH_MASK;
      const seen = atomics.compareExchange(u64, at(offset), word, epoch | planned.end);
      if (seen === word) {
        count(stats + STATS.RESERVED, Number(n));
        leaveUndo(out, epoch | planned.begin, epoch | planned.end);
        return planned.wait;
      }
      word = seen;
    }
  };

  return {
    kind: 'twin',

    tryAcquire(bucket, stats, nowNs, n) {
      if (state[0] !== 0) return TakeCode.CLOSED;
      const code = take(bucket, stats + STATS.DIRECT, 0, BigInt(Math.floor(nowNs)), BigInt(n));
      if (code === TakeCode.REFUSED) count(stats + STATS.REFUSED, 1);
      return code;
    },

    hold(bucket, stats, out, nowNs, n) {
      if (state[0] !== 0) return TakeCode.CLOSED;
      return take(bucket, stats + STATS.RESERVED, out, BigInt(Math.floor(nowNs)), BigInt(n));
    },

    tryAcquireCoarse(bucket, stats) {
      const now = atomics.load(u64, at(CLOCK_WORD));
      return now === 0n ? TakeCode.STALE : take(bucket, stats + STATS.DIRECT, 0, now, 1n);
    },

    reserve(bucket, stats, out, nowNs, n, maxWaitNs) {
      const now = BigInt(Math.floor(nowNs));
      return book(bucket, stats, out, BigInt(n), (word) => {
        const slot = slotOf(bucket, word);
        const interval = read(slot + SLOT.INTERVAL);
        if (interval === 0n) return Number.NaN;
        const begin = later(word & TIME_MASK, now);
        const end = begin + interval * BigInt(n);
        if (end - now > MAX_DEBT) return Number.NEGATIVE_INFINITY;
        const wait = Number(later(end - now - read(slot + SLOT.TAU), 0n));
        return wait > maxWaitNs ? -wait - 1 : { begin, end, wait };
      });
    },

    giveBack(bucket, stats, out, nowNs, n) {
      const begin = read(out);
      const end = read(out + 8);
      const now = BigInt(Math.floor(nowNs));
      const done = swap(bucket, (word) => {
        if (word === end) return begin;
        if (((word ^ end) & EPOCH_MASK) !== 0n || (begin & TIME_MASK) < now) return undefined;
        const arrival = word & TIME_MASK;
        if (arrival > now + read(slotOf(bucket, word) + SLOT.TAU)) return undefined;
        const cost = end - begin;
        return (word & EPOCH_MASK) | (arrival > cost ? arrival - cost : 0n);
      });
      if (done) count(stats + STATS.RETURNED, n);
      return done ? 1 : 0;
    },

    refund(bucket, n) {
      swap(bucket, (word) => {
        const cost = read(slotOf(bucket, word) + SLOT.INTERVAL) * BigInt(n);
        const arrival = word & TIME_MASK;
        return (word & EPOCH_MASK) | (arrival > cost ? arrival - cost : 0n);
      });
    },

    available(bucket, nowNs) {
      const word = atomics.load(u64, at(bucket));
      const slot = slotOf(bucket, word);
      const interval = Number(read(slot + SLOT.INTERVAL));
      const tau = Number(read(slot + SLOT.TAU));
      const left = nowNs + tau - Number(word & TIME_MASK);
      return interval === 0 ? Number.NaN : Math.min(left, tau) / interval;
    },

    configure(bucket, nowNs, intervalNs, tauNs, qps, burst, reset) {
      const now = BigInt(Math.floor(nowNs));
      const first = atomics.load(u64, at(bucket));
      const old = slotOf(bucket, first);
      const oldInterval = Number(read(old + SLOT.INTERVAL));
      const oldTau = Number(read(old + SLOT.TAU));
      const fresh = reset !== 0 || oldInterval === 0;
      const epoch = nextEpoch(first);
      const slot = slotOf(bucket, epoch);
      u64[at(slot + SLOT.INTERVAL)] = BigInt(intervalNs);
      u64[at(slot + SLOT.TAU)] = BigInt(tauNs);
      u64[at(slot + SLOT.CHANGED_AT)] = now;
      u64[at(slot + SLOT.PLAN)] = read(old + SLOT.PLAN) + (fresh ? 1n : 0n);
      f64[at(slot + SLOT.QPS)] = qps;
      f64[at(slot + SLOT.BURST)] = burst;
      swap(bucket, (word) => {
        if (fresh) return epoch | now;
        const left = Math.min(nowNs + oldTau - Number(word & TIME_MASK), oldTau);
        const kept = Math.max(
          Math.min(Math.floor(left * (intervalNs / oldInterval)), tauNs),
          -MAX_DEBT_NS,
        );
        return epoch | BigInt(Math.floor(nowNs + tauNs - kept));
      });
    },

    enter(cell) {
      atomics.add(u64, at(cell + CELL.COUNT), 1n);
      const word = atomics.load(u64, at(cell + CELL.WORD));
      return (read(cellSlot(cell, word)) & INTERVAL_MASK) === 0n ? 0 : 1;
    },

    strictReserve(cell, stats, out, nowNs, maxWaitNs) {
      const now = BigInt(Math.floor(nowNs));
      return book(cell + CELL.WORD, stats, out, 1n, (word) => {
        const interval = read(cellSlot(cell, word)) & INTERVAL_MASK;
        if (interval === 0n) return Number.NaN;
        const begin = later(word & TIME_MASK, now);
        const wait = Number(begin - now);
        if (wait > maxWaitNs) return -wait - 1;
        return begin - now > MAX_DEBT
          ? Number.NEGATIVE_INFINITY
          : { begin, end: begin + interval, wait };
      });
    },

    strictGiveBack(cell, stats, out) {
      const end = read(out + 8);
      if (atomics.compareExchange(u64, at(cell + CELL.WORD), end, read(out)) !== end) return 0;
      count(stats + STATS.RETURNED, 1);
      return 1;
    },

    strictConfigure(cell, nowNs, intervalNs, qps, reset) {
      const first = atomics.load(u64, at(cell + CELL.WORD));
      const packed = read(cellSlot(cell, first));
      const fresh = reset !== 0 || (packed & INTERVAL_MASK) === 0n || intervalNs === 0;
      const epoch = nextEpoch(first);
      const slot = cellSlot(cell, epoch);
      const plan = ((packed >> PLAN_SHIFT) + (fresh ? 1n : 0n)) & 0x3ffn;
      u64[at(slot)] = BigInt(intervalNs) | (plan << PLAN_SHIFT);
      f64[at(slot + 8)] = qps;
      swap(
        cell + CELL.WORD,
        (word) => epoch | (fresh ? BigInt(Math.floor(nowNs)) : word & TIME_MASK),
      );
    },

    publishClock(nowNs) {
      const now = BigInt(Math.floor(nowNs));
      swap(CLOCK_WORD, (word) => (word < now && !isClosed() ? now : undefined));
      // A clock of 0 before and after closing looks the same.
      if (isClosed()) swap(CLOCK_WORD, () => 0n);
    },

    clock() {
      return Number(atomics.load(u64, at(CLOCK_WORD)));
    },

    retireClock(staleNs) {
      atomics.compareExchange(u64, at(CLOCK_WORD), BigInt(staleNs), 0n);
    },

    close() {
      swap(STATE_WORD, () => 1n);
      swap(CLOCK_WORD, () => 0n);
    },

    addLoop(word, n) {
      for (let i = 0; i < n; i++) atomics.add(u64, at(word), 1n);
    },
  };
}
