/** Delays between attempts to reach the backend: they double from half a second to ten, and never fall in step with others. */
const FIRST_MS = 500;
const LONGEST_MS = 10_000;

/**
 * @param failures in a row, at least 1.
 * @param random 0 to 1: half of the delay is drawn.
 */
export function reconnectDelayMs(failures: number, random: number): number {
  const fullMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10));
  return fullMs * (0.5 + random / 2);
}
