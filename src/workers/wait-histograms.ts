/** How long calls of one RPC type were held: at the host bucket, at table limits, and what dry runs would have asked for. */
import type { Arena } from '../shared/arena.js';
import { LatencyHistogram } from '../shared/latency-histogram.js';

export type WaitKind = 'host' | 'table' | 'dryRun';

/** A wait without end is recorded as a day. */
const LONGEST_NS = 86_400e9;

export class WaitHistograms {
  readonly #arena: Arena;
  readonly #rpcId: number;
  readonly #made = new Map<WaitKind, LatencyHistogram>();

  constructor(arena: Arena, rpcId: number) {
    this.#arena = arena;
    this.#rpcId = rpcId;
  }

  /** A wait of 0 was none: only those who were held are recorded. */
  record(kind: WaitKind, waitNs: number): void {
    if (waitNs > 0) this.of(kind).record(Math.min(waitNs, LONGEST_NS));
  }

  of(kind: WaitKind): LatencyHistogram {
    const known = this.#made.get(kind);
    if (known !== undefined) return known;
    const { buffer, layout } = this.#arena;
    const histogram = new LatencyHistogram(buffer, layout.waits(this.#rpcId, kind));
    this.#made.set(kind, histogram);
    return histogram;
  }
}
