/**
 * One key, one text: `10086n`, `10086` and `'10086'` name the same table. Only an integer's own decimal form is merged:
 * `'007'`, `'+7'` and `' 7'` stay different from `7`, because a store may well tell them apart. The empty string is
 * refused: in practice it is a forgotten id, and it would throttle everything that forgot it together.
 */
export type TableKey = bigint | number | string;

/**
 * The canonical text of a key. `field` names the argument in the error.
 * @throws RangeError for a number that is no safe integer (above 2^53 - 1 only a bigint is exact) and for `''`.
 * @throws TypeError for anything but a bigint, number or string.
 */
export function canonicalKey(key: TableKey, field = 'table'): string {
  if (typeof key === 'string') {
    if (key === '') throw new RangeError(`${field} must be a non-empty string, got ''`);
    return key;
  }
  if (typeof key === 'bigint') return key.toString();
  if (typeof key === 'number') {
    if (Number.isSafeInteger(key)) return key === 0 ? '0' : String(key);
    throw new RangeError(`${field} must be a safe integer (or a bigint), got ${key}`);
  }
  throw new TypeError(`${field} must be a bigint, number or string, got ${kindOf(key)}`);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
