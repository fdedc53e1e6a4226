/** Pressure as text, in the HTTP header and the gRPC metadata `spillway-pressure`: what a server writes, a client reads. */

/** Of the HTTP response header, and of the gRPC trailer or initial metadata. */
export const PRESSURE_KEY = 'spillway-pressure';

/** Longer than any list of hops that means it. */
const MOST_CHARACTERS = 256;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const SCALE = 10_000;

/**
 * The pressure that a peer reported: a decimal number, or several between commas, as from a chain of proxies, of which the
 * highest counts. What is none of that is left out. @returns undefined: nothing that means anything.
 */
export function parsePressure(text: string): number | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  let highest: number | undefined;
  for (const part of text.split(',')) {
    const word = part.trim();
    if (!DECIMAL.test(word)) continue;
    const pressure = Number(word);
    if (Number.isNaN(pressure)) continue;
    highest = highest === undefined ? pressure : Math.max(highest, pressure);
  }
  return highest;
}

/**
 * At most four digits after the point. One that is there never becomes none, and one below 1 never the hard rejection.
 * undefined: there is none to report.
 */
export function formatPressure(pressure: number): string | undefined {
  if (!(pressure > 0)) return undefined;
  if (pressure >= 1) return '1';
  return String(Math.min(Math.max(Math.round(pressure * SCALE), 1), SCALE - 1) / SCALE);
}
