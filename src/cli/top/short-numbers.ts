/** Numbers as an operator reads them: short, and of the same width from one second to the next. */

/** `0`, `0.25`, `7.5`, `412`, `12.3k`, `4.1M`; `-` for what is not known. */
export function shortNumber(value: number | undefined | null): string {
  if (value === undefined || value === null || !Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 1e12) return value.toExponential(1);
  for (const [from, unit, letter] of UNITS) {
    if (size >= from) return `${threeDigits(value / unit)}${letter}`;
  }
  return Number.isInteger(value)
    ? String(value)
    : size >= 100
      ? value.toFixed(0)
      : threeDigits(value);
}

const UNITS = [
  [1e9, 1e9, 'G'],
  [1e6, 1e6, 'M'],
  [1e4, 1e3, 'k'],
] as const;

function threeDigits(value: number): string {
  const size = Math.abs(value);
  return value
    .toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}

/** `250ms`, `4.2s`, `3m05s`, `2h03m`, `5d04h`. */
export function shortTime(ms: number | undefined | null): string {
  if (ms === undefined || ms === null || !Number.isFinite(ms)) return '-';
  if (ms < 1000) return `${Math.max(Math.round(ms), 0)}ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return pair(seconds, 60, 'm', 's');
  const minutes = Math.round(seconds / 60);
  return minutes < 1440
    ? pair(minutes, 60, 'h', 'm')
    : pair(Math.round(minutes / 60), 24, 'd', 'h');
}

function pair(value: number, of: number, big: string, small: string): string {
  return `${Math.floor(value / of)}${big}${String(value % of).padStart(2, '0')}${small}`;
}

export function percent(part: number): string {
  return Number.isFinite(part) ? `${Math.round(part * 100)}%` : '-';
}
