/** Columns that text takes on a terminal. The text is safe (`safeText`): it holds no control characters. */

/** East Asian Wide and Fullwidth (Unicode UAX #11), in blocks. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
];

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment);
  return width;
}

const PLAIN = /^[\x20-\x7e]*$/;

function graphemeWidth(grapheme: string): number {
  if (/\p{Emoji_Presentation}|\ufe0f/u.test(grapheme)) return 2;
  const base = grapheme.codePointAt(0) ?? 0;
  if (/^[\p{Mn}\p{Me}\u200d]+$/u.test(grapheme)) return 0;
  return WIDE.some(([from, to]) => base >= from && base <= to) ? 2 : 1;
}

/** `text` in exactly `width` columns: filled up, or cut with `…`. */
export function fitText(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const cut = cutText(text, width);
  const fill = ' '.repeat(Math.max(width - textWidth(cut), 0));
  return align === 'left' ? cut + fill : fill + cut;
}

/** `text` in at most `width` columns. */
export function cutText(text: string, width: number): string {
  if (width <= 0) return '';
  // No column is narrower than a sixteenth of a character of text: 10 KB are not measured for 20 columns.
  const head = text.length > width * 16 ? text.slice(0, width * 16) : text;
  if (head === text && textWidth(text) <= width) return text;
  let taken = '';
  let used = 0;
  for (const { segment } of segmenter.segment(head)) {
    const one = graphemeWidth(segment);
    if (used + one > width - 1) break;
    taken += segment;
    used += one;
  }
  return `${taken}…`;
}
