export interface Series {
  readonly label: string;
  /** Name of the CSS class that gives the colour. */
  readonly tone: 'without' | 'with' | 'offered' | 'limit';
  /** Time in ms and value; a value of undefined is a gap. */
  readonly points: readonly (readonly [atMs: number, value: number | undefined])[];
  /** The value holds until the next point. */
  readonly steps?: boolean;
}

export interface ChartOptions {
  readonly title: string;
  readonly unit: string;
  readonly endMs: number;
  /** Shaded; without it nothing is. */
  readonly flood?: readonly [fromMs: number, toMs: number];
  readonly series: readonly Series[];
}

// Drawn at about the width of a phone, so that text stays readable there; wider screens scale it up.
const width = 460;
const height = 230;
const left = 44;
const right = 10;
const top = 12;
const bottom = 26;

/** A chart as inline SVG with its title and legend in HTML; colours come from the page's CSS. */
export function renderLineChart(options: ChartOptions): string {
  const { title, unit, endMs, flood, series } = options;
  const values = series.flatMap(({ points }) => points.flatMap(([, value]) => value ?? []));
  // Whole numbers: all that is drawn here are counts or many of them a second.
  const step = Math.max(1, niceStep(Math.max(1, ...values) / 4));
  const maxValue = Math.ceil(Math.max(1, ...values) / step) * step;
  const x = (atMs: number) => left + (Math.max(0, atMs) / endMs) * (width - left - right);
  const y = (value: number) => height - bottom - (value / maxValue) * (height - top - bottom);

  const valueTicks = Array.from({ length: Math.round(maxValue / step) + 1 }, (_, i) => i * step);
  const secondStep = niceStep(endMs / 1000 / 5);
  const timeTicks = Array.from(
    { length: Math.floor(endMs / 1000 / secondStep) + 1 },
    (_, i) => i * secondStep,
  );
  return `<figure class="chart">
<figcaption>${escapeHtml(title)} <span class="unit">${escapeHtml(unit)}</span></figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(title)}">
${flood === undefined ? '' : floodOf(x(flood[0]), x(flood[1]))}
${valueTicks
  .map(
    (value) =>
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${fixed(y(value))}" y2="${fixed(y(value))}"/><text class="tick" text-anchor="end" x="${left - 6}" y="${fixed(y(value) + 4)}">${compact(value)}</text>`,
  )
  .join('\n')}
${timeTicks
  .map(
    (second) =>
      `<text class="tick" text-anchor="middle" x="${fixed(x(second * 1000))}" y="${height - 8}">${compact(second)}${second === 0 ? ' s' : ''}</text>`,
  )
  .join('\n')}
${series.map((one) => `<path class="line ${one.tone}" d="${pathOf(one, endMs, x, y)}"><title>${escapeHtml(one.label)}</title></path>`).join('\n')}
</svg>
<ul class="legend">${series.map(({ label, tone }) => `<li><i class="${tone}"></i>${escapeHtml(label)}</li>`).join('')}</ul>
</figure>`;
}

function floodOf(from: number, to: number): string {
  return `<rect class="flood" x="${fixed(from)}" y="${top}" width="${fixed(to - from)}" height="${height - top - bottom}"/>
<text class="note" x="${fixed(from + 5)}" y="${top + 13}">flood</text>`;
}

function pathOf(
  { points, steps }: Series,
  endMs: number,
  x: (atMs: number) => number,
  y: (value: number) => number,
): string {
  let path = '';
  let open = false;
  for (const [index, [atMs, value]] of points.entries()) {
    if (value === undefined) {
      open = false;
      continue;
    }
    path += `${open ? 'L' : 'M'}${fixed(x(Math.min(atMs, endMs)))} ${fixed(y(value))}`;
    open = true;
    if (steps === true) path += `H${fixed(x(Math.min(points[index + 1]?.[0] ?? endMs, endMs)))}`;
  }
  return path;
}

/** 1, 2 or 5 times a power of ten, at least `raw`. */
export function niceStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= raw * (1 - 1e-9)) ?? 10;
  return factor * power;
}

function compact(value: number): string {
  return value >= 10_000
    ? `${Number((value / 1000).toFixed(1))}k`
    : String(Number(value.toFixed(2)));
}

function fixed(value: number): string {
  return String(Number(value.toFixed(1)));
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
