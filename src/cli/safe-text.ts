/**
 * Text that a terminal only shows: whatever could move its cursor, change its colours, ring, turn the direction of reading
 * or hide is written as an escape. Names come from callers of a service, so they may be anything.
 */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (one) => {
    switch (one) {
      case '\n':
        return '\\n';
      case '\r':
        return '\\r';
      case '\t':
        return '\\t';
      default:
        return `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`;
    }
  });
}

/** C0 and C1, format characters (bidi among them; the zero-width joiner makes emoji), line ends, lone surrogates, unassigned. */
const UNSAFE = /(?!\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}\p{Co}\p{Cn}]/gu;
