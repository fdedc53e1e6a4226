/**
 * Key text as UTF-8, except that a lone surrogate keeps its own three bytes (WTF-8) where `TextEncoder` would write
 * U+FFFD: two different keys never become the same bytes, and every text comes back as it was.
 */

/** Bytes that `text` takes at most. */
export const maxEncodedBytes = (text: string): number => text.length * 3;

/** Writes `text` into `into`, which must have room for it. @returns the number of bytes written. */
export function encodeText(text: string, into: Uint8Array): number {
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if (code < 0x80) {
      into[at++] = code;
      continue;
    }
    if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
      const low = text.charCodeAt(i + 1);
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i++;
      }
    }
    if (code < 0x800) {
      into[at++] = 0xc0 | (code >> 6);
    } else {
      if (code < 0x10000) {
        into[at++] = 0xe0 | (code >> 12);
      } else {
        into[at++] = 0xf0 | (code >> 18);
        into[at++] = 0x80 | ((code >> 12) & 0x3f);
      }
      into[at++] = 0x80 | ((code >> 6) & 0x3f);
    }
    into[at++] = 0x80 | (code & 0x3f);
  }
  return at;
}

/** The text of `bytes[0, length)`, which {@link encodeText} wrote. */
export function decodeText(bytes: Uint8Array, length: number): string {
  let text = '';
  for (let at = 0; at < length; ) {
    const lead = bytes[at] as number;
    const size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    let code = size === 1 ? lead : lead & (0x7f >> size);
    for (let i = 1; i < size; i++) code = (code << 6) | ((bytes[at + i] as number) & 0x3f);
    text += String.fromCodePoint(code);
    at += size;
  }
  return text;
}

/** The largest cut `<= limit` that does not split a character of `bytes`. */
export function cutAtCharacter(bytes: Uint8Array, limit: number): number {
  let cut = limit;
  while (cut > 0 && ((bytes[cut] as number) & 0xc0) === 0x80) cut--;
  return cut;
}
