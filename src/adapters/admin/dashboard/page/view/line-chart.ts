import { valueTicks } from '../model/chart-scale.js';
import type { Formats } from '../model/formats.js';
import { type Point, unbroken, valueAt, WINDOW_MS } from '../model/series.js';
import { visibleText } from '../model/visible-text.js';
import { el, setAttributes, setText, svg } from './dom.js';

export interface Line {
  readonly label: string;
  /** CSS class: colour and dashes, so that colour is not all that tells the lines apart. */
  readonly tone: 'rate' | 'limit' | 'busy' | 'level' | 'pressure';
  readonly points: readonly Point[];
  /** The value holds until the next point; 0 is not drawn where `zeroIsNone`. */
  readonly stepped?: boolean;
  readonly zeroIsNone?: boolean;
}

export interface ChartFrame {
  /** Right edge, ms since the runtime's start, and the same in ms since 1970. */
  readonly nowMs: number;
  readonly wallMs: number;
  /** What is known now is from then. */
  readonly state: { readonly atMs: number };
  readonly formats: Formats;
}

// Drawn at about the width of a phone, so that text stays readable there; wider screens scale it.
const WIDTH = 440;
const HEIGHT = 170;
const [LEFT, RIGHT, TOP, BOTTOM] = [46, 8, 10, 24];
/** Without a state for so long nothing is known of the time between. */
const GAP_MS = 5000;
const SPANS_MS = [60_000, 120_000, 300_000, WINDOW_MS];

const fixed = (value: number): string => String(Math.round(value * 10) / 10);

/** A chart of the last minutes: it begins with one and grows to ten. */
export class LineChart {
  readonly element: HTMLElement = el('figure');
  readonly title: HTMLElement;
  readonly #svg = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' });
  readonly #grid = svg('g');
  readonly #lines = svg('g');
  readonly #legend = el('ul', { class: 'legend' });
  readonly #finest: number;
  readonly #value: (value: number) => string;

  /** @param finest step of the axis. */
  constructor(title: HTMLElement, value: (value: number) => string, finest = 0.01) {
    this.title = title;
    this.#finest = finest;
    this.#value = value;
    this.#svg.append(this.#grid, this.#lines);
    this.element.append(el('figcaption', {}, title), this.#svg, this.#legend);
  }

  draw(lines: readonly Line[], frame: ChartFrame): void {
    const { nowMs, formats, state } = frame;
    const begin = Math.min(nowMs, ...lines.map(({ points }) => points[0]?.[0] ?? nowMs));
    const spanMs = SPANS_MS.find((span) => span >= nowMs - begin) ?? WINDOW_MS;
    const fromMs = nowMs - spanMs;
    const seen = lines.flatMap(({ points }, i) =>
      points
        .filter(([atMs], at) => atMs >= fromMs || (lines[i]?.points[at + 1]?.[0] ?? 0) > fromMs)
        .map(([, value]) => value),
    );
    const ticks = valueTicks(
      seen.reduce((most, value) => Math.max(most, value), 0),
      3,
      this.#finest,
    );
    const max = ticks.at(-1) as number;
    const x = (atMs: number): number =>
      LEFT + ((Math.max(fromMs, atMs) - fromMs) / spanMs) * (WIDTH - LEFT - RIGHT);
    const y = (value: number): number => HEIGHT - BOTTOM - (value / max) * (HEIGHT - TOP - BOTTOM);
    this.#drawGrid(ticks, y, spanMs, frame);
    this.#lines.replaceChildren(
      ...lines.map(({ tone, stepped, zeroIsNone, points }) => {
        const d = stepped
          ? steps(points, fromMs, nowMs, zeroIsNone === true, x, y)
          : unbroken(points, GAP_MS)
              .map((line) => slope(line, fromMs, x, y))
              .join('');
        return svg('path', { class: `line ${tone}`, d });
      }),
    );
    const said = lines.map(({ label, points, stepped, zeroIsNone }) => {
      const value = valueAt(points, state.atMs, stepped ? Number.POSITIVE_INFINITY : GAP_MS);
      if (value === undefined) return `${label}: ${points.length === 0 ? 'none' : 'not known'}`;
      return `${label}: ${zeroIsNone === true && value === 0 ? 'none' : this.#value(value)}`;
    });
    this.#drawLegend(lines, said);
    const title = visibleText(this.title.textContent ?? '').slice(0, 200);
    const ago = formats.duration(spanMs);
    setAttributes(this.#svg, {
      'aria-label': `${title}, last ${ago}. ${said.join(', ')}; highest shown ${this.#value(max)}`,
    });
  }

  #drawGrid(
    ticks: readonly number[],
    y: (value: number) => number,
    spanMs: number,
    { wallMs, formats }: ChartFrame,
  ): void {
    const marks = ticks.flatMap((value) => [
      svg('line', {
        class: 'grid',
        x1: fixed(LEFT),
        x2: fixed(WIDTH - RIGHT),
        y1: fixed(y(value)),
        y2: fixed(y(value)),
      }),
      svg(
        'text',
        { x: fixed(LEFT - 6), y: fixed(y(value) + 4), 'text-anchor': 'end' },
        formats.number(value),
      ),
    ]);
    const times = ([0, 0.5, 1] as const).map((part) =>
      svg(
        'text',
        {
          x: fixed(LEFT + part * (WIDTH - LEFT - RIGHT)),
          y: fixed(HEIGHT - 6),
          'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle',
        },
        formats.time(wallMs - spanMs * (1 - part), wallMs),
      ),
    );
    this.#grid.replaceChildren(...marks, ...times);
  }

  #drawLegend(lines: readonly Line[], said: readonly string[]): void {
    while (this.#legend.childElementCount > lines.length) this.#legend.lastElementChild?.remove();
    for (const [i, { tone }] of lines.entries()) {
      const item =
        this.#legend.children[i] ?? this.#legend.appendChild(el('li', {}, el('i'), el('span')));
      setAttributes(item.firstElementChild as Element, { class: tone });
      setText(item.lastElementChild as Element, said[i] as string);
    }
  }
}

function slope(
  points: readonly Point[],
  fromMs: number,
  x: (atMs: number) => number,
  y: (value: number) => number,
): string {
  const shown = points.filter(([atMs]) => atMs >= fromMs);
  // A line of one point is no line: it shows as a dot.
  const dot = shown.length === 1 ? 'h0.1' : '';
  return (
    shown
      .map(([atMs, value], i) => `${i === 0 ? 'M' : 'L'}${fixed(x(atMs))} ${fixed(y(value))}`)
      .join('') + dot
  );
}

function steps(
  points: readonly Point[],
  fromMs: number,
  nowMs: number,
  zeroIsNone: boolean,
  x: (atMs: number) => number,
  y: (value: number) => number,
): string {
  let path = '';
  let open = false;
  for (const [i, [atMs, value]] of points.entries()) {
    const untilMs = points[i + 1]?.[0] ?? nowMs;
    if (untilMs < fromMs) continue;
    if (zeroIsNone && value === 0) {
      open = false;
      continue;
    }
    path += `${open ? 'V' : `M${fixed(x(atMs))} `}${fixed(y(value))}H${fixed(x(untilMs))}`;
    open = true;
  }
  return path;
}
