import { Hottest } from './hottest.js';
import type { PairCell, PairSource } from './ports.js';

export interface QpsRegistryOptions {
  /** Cells are numbered from 0 to `capacity - 1`. */
  readonly capacity: number;
  /** Rates are averages over this, ms. */
  readonly windowMs: number;
  /** Time between samples, ms; the window holds at most 1000 of them. */
  readonly sampleMs: number;
}

export interface HotPair extends PairCell {
  readonly rpcId: number;
  /** Calls per second. */
  readonly qps: number;
}

const MAX_SAMPLES = 1000;

/**
 * Calls per second of every pair over a sliding window, from samples of cumulative counters. Pure: told when to sample
 * and what time it is.
 *
 * Layout: a ring of columns, one per sample, each with its time and one 32-bit count per cell, so that sampling writes
 * one dense array and a rate reads two. Counts are kept modulo 2^32: a window in which one pair makes more calls than
 * that does not exist. A rate is the difference of two columns over their real distance in time, so late samples and
 * stalls make it coarser, not wrong.
 */
export class QpsRegistry {
  readonly #windowMs: number;
  readonly #columns: Uint32Array[];
  readonly #columnTimesMs: Float64Array;
  /** Samples taken; the newest is in column `(#samples - 1) % columns`. */
  #samples = 0;
  /** Cells from here on have never been seen. */
  #rowsInUse = 0;
  readonly #generations: Int32Array;
  readonly #rpcIds: Uint16Array;
  /** Number (from 1) of the last sample that saw the cell: less than `#samples` means that it is gone. */
  readonly #lastSeen: Float64Array;
  /** Number of the sample that saw this generation first, and the count to start from in older columns. */
  readonly #firstSeen: Float64Array;
  readonly #baselines: Uint32Array;
  readonly #lastChangeMs: Float64Array;

  constructor({ capacity, windowMs, sampleMs }: QpsRegistryOptions) {
    const samples = Math.max(1, Math.ceil(windowMs / sampleMs));
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new RangeError(`capacity must be an integer >= 1, got ${String(capacity)}`);
    }
    if (!(sampleMs > 0 && windowMs > 0 && samples <= MAX_SAMPLES)) {
      throw new RangeError(
        `windowMs must hold 1 to ${MAX_SAMPLES} times sampleMs, got ${String(windowMs)} and ${String(sampleMs)}`,
      );
    }
    this.#windowMs = windowMs;
    this.#columns = Array.from({ length: samples + 1 }, () => new Uint32Array(capacity));
    this.#columnTimesMs = new Float64Array(samples + 1);
    this.#generations = new Int32Array(capacity);
    this.#rpcIds = new Uint16Array(capacity);
    this.#lastSeen = new Float64Array(capacity);
    this.#firstSeen = new Float64Array(capacity);
    this.#baselines = new Uint32Array(capacity);
    this.#lastChangeMs = new Float64Array(capacity);
  }

  /** When every counter was read last, ms; undefined: never. */
  get sampledAtMs(): number | undefined {
    return this.#samples === 0 ? undefined : this.#timeOf(this.#samples);
  }

  /** Reads every counter. `nowMs` must not go back. */
  sample(source: Pick<PairSource, 'visit'>, nowMs: number): void {
    const previous = this.#columns[(this.#samples - 1) % this.#columns.length];
    this.#samples += 1;
    const number = this.#samples;
    const index = (number - 1) % this.#columns.length;
    const column = this.#columns[index] as Uint32Array;
    this.#columnTimesMs[index] = nowMs;
    source.visit((cell, generation, rpcId, count) => {
      const low = count >>> 0;
      const seen = this.#lastSeen[cell] as number;
      const isKnown = seen > 0 && this.#generations[cell] === generation;
      if (isKnown && seen === number - 1) {
        if ((previous as Uint32Array)[cell] !== low) this.#lastChangeMs[cell] = nowMs;
      } else {
        // A cell that appears after the first sample has counted since it appeared. Of any other nothing is known
        // before now: it may have counted for hours.
        this.#generations[cell] = generation;
        this.#rpcIds[cell] = rpcId;
        this.#firstSeen[cell] = number;
        this.#baselines[cell] = number === 1 || isKnown ? low : 0;
        this.#lastChangeMs[cell] = nowMs;
        if (cell >= this.#rowsInUse) this.#rowsInUse = cell + 1;
      }
      this.#lastSeen[cell] = number;
      column[cell] = low;
    });
  }

  /** Calls per second of a pair in the window that ends at the newest sample; 0 when nothing is known of it. */
  qps({ cell, generation }: PairCell): number {
    if (!this.#isTracked(cell) || this.#generations[cell] !== generation) return 0;
    const start = this.#windowStart();
    return this.#rate(cell, start, this.#spanMs(start));
  }

  /** The `k` fastest pairs of each of the given RPC types, fastest first, in the order of `rpcIds`. */
  hottest(k: number, rpcIds: readonly number[]): HotPair[] {
    const start = this.#windowStart();
    const spanMs = this.#spanMs(start);
    const heaps = new Map(rpcIds.map((rpcId) => [rpcId, new Hottest(k)]));
    if (spanMs <= 0 || k < 1) return [];
    const heapOf: (Hottest | undefined)[] = [];
    for (const [rpcId, heap] of heaps) heapOf[rpcId] = heap;
    for (let cell = 0; cell < this.#rowsInUse; cell += 1) {
      if (this.#lastSeen[cell] !== this.#samples) continue;
      heapOf[this.#rpcIds[cell] as number]?.offer(cell, this.#rate(cell, start, spanMs));
    }
    return [...heaps].flatMap(([rpcId, heap]) =>
      heap.ranked().map(({ id, rate }) => ({
        cell: id,
        generation: this.#generations[id] as number,
        rpcId,
        qps: rate,
      })),
    );
  }

  /** Pairs of an RPC type, or of all, at the newest sample. */
  tracked(rpcId?: number): number {
    let count = 0;
    for (let cell = 0; cell < this.#rowsInUse; cell += 1) {
      if (this.#isTracked(cell) && (rpcId === undefined || this.#rpcIds[cell] === rpcId))
        count += 1;
    }
    return count;
  }

  /** Offers each pair that has been idle for `idleMs` or more to `drop`; returns how many it took. */
  sweep(nowMs: number, idleMs: number, drop: PairSource['drop']): number {
    let removed = 0;
    for (let cell = 0; cell < this.#rowsInUse; cell += 1) {
      if (!this.#isTracked(cell) || nowMs - (this.#lastChangeMs[cell] as number) < idleMs) continue;
      if (!drop(cell, this.#generations[cell] as number)) continue;
      this.#lastSeen[cell] = 0;
      removed += 1;
    }
    return removed;
  }

  #isTracked(cell: number): boolean {
    return this.#samples > 0 && this.#lastSeen[cell] === this.#samples;
  }

  /** Number of the youngest sample that is a window old, or of the oldest in the ring, which is one at most a little younger. */
  #windowStart(): number {
    const newest = this.#samples;
    const oldest = Math.max(1, newest - this.#columns.length + 1);
    const startMs = this.#timeOf(newest) - this.#windowMs;
    let number = newest - 1;
    while (number > oldest && this.#timeOf(number) > startMs) number -= 1;
    return Math.max(number, oldest);
  }

  #spanMs(start: number): number {
    return this.#timeOf(this.#samples) - this.#timeOf(start);
  }

  #rate(cell: number, start: number, spanMs: number): number {
    if (spanMs <= 0) return 0;
    const newest = (this.#columns[(this.#samples - 1) % this.#columns.length] as Uint32Array)[cell];
    const since =
      start < (this.#firstSeen[cell] as number)
        ? this.#baselines[cell]
        : (this.#columns[(start - 1) % this.#columns.length] as Uint32Array)[cell];
    return ((((newest as number) - (since as number)) >>> 0) * 1000) / spanMs;
  }

  #timeOf(number: number): number {
    return this.#columnTimesMs[(number - 1) % this.#columnTimesMs.length] as number;
  }
}
