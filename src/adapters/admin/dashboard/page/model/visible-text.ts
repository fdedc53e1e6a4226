/**
 * Text of others (table names, addresses, reasons) as people may see it: what is invisible or turns the line around is
 * spelled out, and what is long is cut. The page puts the result into text nodes only.
 */

/** Controls, formats (bidirectional overrides, zero-width characters), line breaks, halves of pairs, and the backslash. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\]/gu;
/** A joiner inside an emoji is part of its picture. */
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Variation_Selector})\u200d(?=\p{Extended_Pictographic})/u;

const SHORT: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** No two texts look the same for want of an escape. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (found, at: number) => {
    if (found === '\u200d' && EMOJI_JOINER.test(text.slice(Math.max(0, at - 2), at + 3))) {
      return found;
    }
    return SHORT[found] ?? `\\u{${found.codePointAt(0)?.toString(16)}}`;
  });
}

export interface CutText {
  readonly text: string;
  /** The whole text, visible; there only where `text` is not all of it. */
  readonly full?: string;
}

const ELLIPSIS = '\u2026';

/** @param length most characters (code points) that are shown. */
export function cutText(text: string, length = 48): CutText {
  // A code point takes at most two units, and an escape only makes it longer.
  const begin = [...visibleText(text.slice(0, length * 2 + 2))];
  if (begin.length <= length && text.length <= length * 2 + 2) return { text: begin.join('') };
  return {
    text: `${begin.slice(0, length - 1).join('')}${ELLIPSIS}`,
    full: visibleText(text),
  };
}
