/** Publishes the coarse clock each millisecond while some limiter reads it, and remembers how late it has been. */
import type { Arena } from '../shared/arena.js';
import { HEADER } from '../shared/layout.js';
import type { Clock } from './clock.js';

export class CoarseTicker {
  readonly #arena: Arena;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;
  #lastNs = 0;

  constructor(arena: Arena, clock: Clock) {
    this.#arena = arena;
    this.#clock = clock;
  }

  run(wanted: boolean): void {
    if (wanted === (this.#timer !== undefined)) return;
    if (wanted) {
      this.#lastNs = this.#clock.nowNs();
      this.#tick();
      this.#timer = setInterval(() => this.#tick(), 1);
    } else {
      clearInterval(this.#timer);
      this.#timer = undefined;
      // Nobody moves it any more: readers must not trust it.
      const { kernel } = this.#arena;
      kernel.retireClock(kernel.clock());
    }
  }

  #tick(): void {
    const { kernel, f64 } = this.#arena;
    const now = this.#clock.nowNs();
    const lag = now - this.#lastNs;
    this.#lastNs = now;
    kernel.publishClock(now);
    if (lag > (f64[HEADER.MAX_LAG >>> 3] as number)) f64[HEADER.MAX_LAG >>> 3] = lag;
  }
}
