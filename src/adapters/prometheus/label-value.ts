/**
 * The value of a label for a name that anybody may have chosen. Names of up to {@link MAX_LABEL_LENGTH} characters stay
 * as they are, unless they have control characters or lone surrogates: those would not survive the way to Prometheus, or
 * the terminal of who looks. Any other name is made readable, cut, and told apart by a hash of the whole, so that two
 * names that differ are two series; and so is a name that looks like one that was cut.
 */
import { createHash } from 'node:crypto';

/** UTF-16 units of a value, its hash included. A long key, which the directory keeps as prefix and hash, takes 145. */
export const MAX_LABEL_LENGTH = 160;

const HASH_DIGITS = 24;
const KEPT = MAX_LABEL_LENGTH - HASH_DIGITS - 1;
const UNFIT = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const EVERY_UNFIT = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;
const LOOKS_CUT = /~[0-9a-f]{24}$/;

export function labelValue(name: string): string {
  if (name.length <= MAX_LABEL_LENGTH && !UNFIT.test(name) && !LOOKS_CUT.test(name)) return name;
  const readable = name.slice(0, KEPT).replace(EVERY_UNFIT, '\ufffd');
  // By UTF-16 units: in UTF-8 all lone surrogates would be one.
  const hash = createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex');
  return `${readable}~${hash.slice(0, HASH_DIGITS)}`;
}
