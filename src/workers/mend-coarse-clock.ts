import type { Arena } from '../shared/arena.js';
import { HEADER } from '../shared/layout.js';

/** A coarse clock that is older stands still: whoever ticked it is gone. */
const STALE_NS = 20e6;

/** A refusal, or a coarse clock without a time, has made a thread read the precise one: others may use what it read. */
export function mendCoarseClock({ kernel, f64 }: Arena, nowNs: number): void {
  const coarse = kernel.clock();
  if (coarse === 0) return;
  if (nowNs - coarse > STALE_NS) kernel.retireClock(coarse);
  else kernel.publishClock(nowNs);
  if (nowNs - coarse > (f64[HEADER.MAX_LAG >>> 3] as number))
    f64[HEADER.MAX_LAG >>> 3] = nowNs - coarse;
}
