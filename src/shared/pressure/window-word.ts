/**
 * A pressure window in 64 bits, so that one store is the whole signal, whoever is killed around it. From the lowest bit on:
 * pressure (16, 65,535 is 1; never 0, so that the lower half alone says that there is a window), its end (48) in ticks of
 * 1/16 ms since the runtime's epoch: 557 years. 0: no window.
 */

/** A bucket that is to be left alone. */
export interface PressureWindow {
  /** Of the signal that opened it, above 0 and at most 1, to 1/65,535. */
  readonly pressure: number;
  /** Since the runtime's epoch. */
  readonly endNs: number;
}

const TICK_NS = 62_500;
const TICKS_PER_MS = 16;
const PRESSURE_BITS = 16n;
const PRESSURE_MASK = 0xffffn;
const WHOLE_PRESSURE = 0xffff;

/** `windowMs`: whole milliseconds above 0. Begins with the tick that `nowNs` is in, so that it never lasts longer than it says. */
export function packWindow(pressure: number, windowMs: number, nowNs: number): bigint {
  const share = Math.round(Math.min(pressure, 1) * WHOLE_PRESSURE);
  const endTicks = Math.floor(nowNs / TICK_NS) + windowMs * TICKS_PER_MS;
  return (BigInt(endTicks) << PRESSURE_BITS) | BigInt(Math.max(share, 1));
}

/** undefined: no window. */
export function unpackWindow(word: bigint): PressureWindow | undefined {
  if (word === 0n) return undefined;
  return {
    pressure: Number(word & PRESSURE_MASK) / WHOLE_PRESSURE,
    endNs: Number(word >> PRESSURE_BITS) * TICK_NS,
  };
}

/** The same window, ending `windowMs` from now at the latest. */
export function shortenWindow(word: bigint, windowMs: number, nowNs: number): bigint {
  const window = unpackWindow(word);
  if (window === undefined || window.endNs <= nowNs + windowMs * 1e6) return word;
  return windowMs < 1 ? 0n : packWindow(window.pressure, Math.floor(windowMs), nowNs);
}
