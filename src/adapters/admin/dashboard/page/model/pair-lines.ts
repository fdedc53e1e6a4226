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
  /** When it last was, ms since the runtime's start. */
  readonly seenMs: number;
}

/** Pairs of which lines are kept; the last slowed ones. */
const MAX_PAIRS = 100;

/** The lines of the pairs that are slowed, or were within the window. */
export class PairLines {
  readonly #lines = new Map<string, { -readonly [K in keyof PairLine]: PairLine[K] }>();

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

  /** @param throttled the most severe first. */
  measure(atMs: number, throttled: readonly ThrottledPair[]): void {
    const now = new Set<string>();
    // The least severe first, so that they are the ones that make room.
    for (const { rpc, table, currentQps, qpsLimit } of throttled.slice(0, MAX_PAIRS).reverse()) {
      const line = this.#line(rpc, table);
      now.add(idOf(rpc, table));
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

  /** Those not slowed any more, the last one first. */
  released(): PairLine[] {
    return [...this.#lines.values()]
      .filter(({ throttled }) => !throttled)
      .sort((a, b) => b.seenMs - a.seenMs);
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
