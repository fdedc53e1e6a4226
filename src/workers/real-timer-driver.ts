/** Wake-ups of the timer actor by Node's timers, which hold at most 2^31 - 1 ms: a longer delay is served in pieces. */
import type { TimerDriver } from '../actors/core/timer-driver.js';

const LONGEST_MS = 86_400_000;

export function createTimerDriver(): TimerDriver {
  let timer: NodeJS.Timeout | undefined;
  return {
    arm(delayMs, wake) {
      clearTimeout(timer);
      // Waking early is no fault: whoever is woken looks at the clock and arms again.
      timer = setTimeout(wake, Math.min(Math.max(Math.ceil(delayMs), 1), LONGEST_MS));
    },
    disarm() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
