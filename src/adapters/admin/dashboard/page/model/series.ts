/** Time in ms since the runtime's start, and what was measured then. */
export type Point = readonly [atMs: number, value: number];

/** What the page remembers of each line: 10 minutes. */
export const WINDOW_MS = 600_000;
/** States come once a second; of a faster source only the newer points are kept. */
const MAX_POINTS = 1200;

/** One line of a chart: bounded in time and in number. */
export class Series {
  #points: Point[] = [];
  readonly #windowMs: number;

  constructor(windowMs: number = WINDOW_MS) {
    this.#windowMs = windowMs;
  }

  get points(): readonly Point[] {
    return this.#points;
  }

  get last(): Point | undefined {
    return this.#points.at(-1);
  }

  /** A point that is not newer than the last one is left out. */
  push(atMs: number, value: number): void {
    const last = this.last;
    if (!Number.isFinite(value) || (last !== undefined && atMs <= last[0])) return;
    this.#points.push([atMs, value]);
    this.trim(atMs);
  }

  /** Forgets what is older than the window, but for the one point that holds where the window begins. */
  trim(nowMs: number): void {
    const from = nowMs - this.#windowMs;
    const first = this.#points.findIndex(([atMs]) => atMs >= from);
    const old = first < 0 ? this.#points.length - 1 : first - 1;
    const drop = Math.max(old, this.#points.length - MAX_POINTS);
    if (drop > 0) this.#points.splice(0, drop);
  }
}

/** The last value, if it was measured at most `gapMs` before `atMs`: an older one says nothing of then. */
export function valueAt(points: readonly Point[], atMs: number, gapMs: number): number | undefined {
  const last = points.at(-1);
  return last === undefined || last[0] < atMs - gapMs ? undefined : last[1];
}

/** The lines between the points: a gap where none came for `gapMs`. */
export function unbroken(points: readonly Point[], gapMs: number): Point[][] {
  const lines: Point[][] = [];
  let line: Point[] = [];
  for (const point of points) {
    const last = line.at(-1);
    if (last !== undefined && point[0] - last[0] > gapMs) {
      lines.push(line);
      line = [];
    }
    line.push(point);
  }
  if (line.length > 0) lines.push(line);
  return lines;
}
