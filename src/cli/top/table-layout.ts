/** Rows in columns of a given width: columns that matter least go first when there is no room. */
import { safeText } from '../safe-text.js';
import { cutText, fitText, textWidth } from '../text-width.js';

export interface TableColumn<Row> {
  readonly head: string;
  readonly align: 'left' | 'right';
  /** May be anything: it is made safe here. */
  readonly cell: (row: Row) => string;
  /** The least that it is of use with. */
  readonly min: number;
  /** The most that it takes; without it what its cells need. */
  readonly max?: number;
  /** The higher, the sooner it is left out; 0: never. */
  readonly drop: number;
}

const GAP = 1;

/** The first line is the heads. No line is wider than `width`. */
export function layoutTable<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  width: number,
): string[] {
  const kept = keepColumns(columns, width);
  const cells = rows.map((row) => kept.map(({ cell }) => safeText(cell(row))));
  const widths = kept.map(({ head, min, max = Number.POSITIVE_INFINITY }, i) => {
    const widest = cells.reduce((most, row) => Math.max(most, textWidth(row[i] ?? '')), 0);
    return Math.min(Math.max(widest, head.length, min), max);
  });
  shrink(widths, kept, width);
  const line = (texts: readonly string[]): string =>
    cutText(
      kept
        .map(({ align }, i) => fitText(texts[i] ?? '', widths[i] ?? 0, align))
        .join(' '.repeat(GAP))
        .trimEnd(),
      width,
    );
  return [line(kept.map(({ head }) => head)), ...cells.map(line)];
}

function keepColumns<Row>(
  columns: readonly TableColumn<Row>[],
  width: number,
): readonly TableColumn<Row>[] {
  let kept = columns;
  const needs = (): number => kept.reduce((sum, { min }) => sum + min + GAP, -GAP);
  while (needs() > width) {
    const least = Math.max(...kept.map(({ drop }) => drop));
    if (least <= 0) break;
    kept = kept.filter(({ drop }) => drop !== least);
  }
  return kept;
}

/** Takes what is too much from the widest columns, down to their least. */
function shrink<Row>(widths: number[], kept: readonly TableColumn<Row>[], width: number): void {
  let over = widths.reduce((sum, one) => sum + one + GAP, -GAP) - width;
  const order = widths.map((_, i) => i).sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
  for (const i of order) {
    if (over <= 0) return;
    const spare = Math.max((widths[i] ?? 0) - (kept[i]?.min ?? 0), 0);
    const taken = Math.min(spare, over);
    widths[i] = (widths[i] ?? 0) - taken;
    over -= taken;
  }
}
