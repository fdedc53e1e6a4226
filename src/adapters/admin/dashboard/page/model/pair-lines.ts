import type { PairRate } from '../../../../../actors/throttle/limit-action.js';
import type { ThrottledPair, ThrottleRecord } from '../../../../../workers/state/runtime-state.js';
import { Series, WINDOW_MS } from './series.js';

/** QPS of one pair, and its limit; while it has none the limit is 0. */
export interface PairLine {
  readonly rpc: string;
  readonly table: string;
  readonly qps: Series;
  readonly limit: Series;
  /** Slowed at the last state. */
  readonly throttled: boolean;
  /** When it last was, ms since the runtime's start; -Infinity: never that we know of. */
  readonly seenMs: number;
}

/** Pairs of which lines are kept. */
const MAX_PAIRS = 100;
/** A rate that was measured longer ago says nothing of now. */
const FRESH_MS = 5000;

/** The lines of the pairs that are slowed, or hot, or were within the window. */
export class PairLines {
  readonly #lines = new Map<string, { -readonly [K in keyof PairLine]: PairLine[K] }>();
  #measuredMs = Number.NEGATIVE_INFINITY;

  /** Changes of the past, oldest first: lines begin where their limit began, also before the page was opened. */
  tell({ atMs, changes }: ThrottleRecord): void {
    for (const { rpc, table, before, after, qps } of changes) {
      const line = this.#line(rpc, table);
      if (line.limit.last === undefined && before !== null) line.limit.push(atMs - 1, before);
      line.limit.push(atMs, after ?? 0);
      if (qps !== null) line.qps.push(atMs, qps);
      line.throttled = after !== null;
      line.seenMs = Math.max(line.seenMs, atMs);
    }
    this.#bound();
  }

  /**
   * @param throttled the most severe first.
   * @param hottest the fastest first, slowed or not.
   */
  measure(
    atMs: number,
    throttled: readonly ThrottledPair[],
    hottest: readonly PairRate[] = [],
  ): void {
    this.#measuredMs = atMs;
    const slowed = throttled.slice(0, MAX_PAIRS);
    const now = new Set(slowed.map(({ rpc, table }) => idOf(rpc, table)));
    // What matters least first, so that it is what makes room.
    for (const { rpc, table, qps } of hottest.toReversed()) {
      // The rate of a slowed pair is measured by who slows it.
      if (!now.has(idOf(rpc, table))) this.#line(rpc, table).qps.push(atMs, qps);
    }
    for (const { rpc, table, currentQps, qpsLimit } of slowed.toReversed()) {
      const line = this.#line(rpc, table);
      line.qps.push(atMs, currentQps);
      line.limit.push(atMs, qpsLimit);
      line.seenMs = atMs;
      line.throttled = true;
    }
    for (const [id, line] of this.#lines) {
      if (now.has(id)) continue;
      if (line.throttled) line.limit.push(atMs, 0);
      line.throttled = false;
      line.qps.trim(atMs);
      line.limit.trim(atMs);
      if ((line.qps.last?.[0] ?? line.seenMs) < atMs - WINDOW_MS) this.#lines.delete(id);
    }
    this.#bound();
  }

  of(rpc: string, table: string): PairLine | undefined {
    return this.#lines.get(idOf(rpc, table));
  }

  /** Those not slowed now: those that were, the last one first, then the hottest, then those that are among them no more. */
  free(): PairLine[] {
    const rate = ({ qps: { last } }: PairLine): number =>
      last === undefined || last[0] < this.#measuredMs - FRESH_MS ? 0 : last[1];
    return [...this.#lines.values()]
      .filter(({ throttled }) => !throttled)
      .sort((a, b) => (b.seenMs === a.seenMs ? rate(b) - rate(a) : b.seenMs - a.seenMs));
  }

  #line(rpc: string, table: string): { -readonly [K in keyof PairLine]: PairLine[K] } {
    const id = idOf(rpc, table);
    const line = this.#lines.get(id) ?? {
      rpc,
      table,
      qps: new Series(),
      limit: new Series(),
      throttled: false,
      seenMs: Number.NEGATIVE_INFINITY,
    };
    // Whoever was touched last stands last.
    this.#lines.delete(id);
    this.#lines.set(id, line);
    return line;
  }

  #bound(): void {
    for (const id of this.#lines.keys()) {
      if (this.#lines.size <= MAX_PAIRS) return;
      this.#lines.delete(id);
    }
  }
}

function idOf(rpc: string, table: string): string {
  return JSON.stringify([rpc, table]);
}
