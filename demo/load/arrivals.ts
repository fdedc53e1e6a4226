import type { Random } from './random.js';
import { cumulate, pickIndex } from './zipf.js';

/** A stretch of time in which every table's arrival rate is constant. */
export interface LoadPhase {
  readonly untilMs: number;
  /** Arrivals per second, by table index. */
  readonly ratesPerSecond: readonly number[];
}

export interface Arrival {
  readonly atMs: number;
  readonly tableIndex: number;
  readonly rpcIndex: number;
}

/**
 * Poisson arrivals over the phases, in order of time. Open loop: when a call arrives depends on the
 * seed alone, never on how the calls before it fared. `share` is this thread's part of each rate.
 */
export function* planArrivals(
  phases: readonly LoadPhase[],
  share: number,
  rpcCount: number,
  random: Random,
): Generator<Arrival, void, undefined> {
  let nowMs = 0;
  for (const { untilMs, ratesPerSecond } of phases) {
    const cumulative = cumulate(ratesPerSecond);
    const total = cumulative.at(-1) ?? 0;
    const meanGapMs = 1000 / (total * share);
    while (nowMs < untilMs) {
      const gapMs = -Math.log(1 - random()) * meanGapMs;
      if (nowMs + gapMs >= untilMs) {
        // Without memory: what is left of the gap is drawn anew at the next phase's rate.
        nowMs = untilMs;
        break;
      }
      nowMs += gapMs;
      const tableIndex = pickIndex(cumulative, random() * total);
      yield { atMs: nowMs, tableIndex, rpcIndex: Math.floor(random() * rpcCount) };
    }
  }
}
