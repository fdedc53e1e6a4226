import { isPlainObject } from './plain-copy.js';

/** Options are three levels deep; what is deeper is one value. */
const MAX_DEPTH = 8;

/** Where in `value` is the first thing that cannot cross threads, such as a function. `field`: of `value` itself. */
export function uncloneable(
  value: unknown,
  field = '',
  depth = 0,
): { readonly field: string; readonly value: unknown } | undefined {
  try {
    structuredClone(value);
    return undefined;
  } catch {
    if (depth === MAX_DEPTH || !isPlainObject(value)) return { field, value };
  }
  for (const [key, { value: inner }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    const found = uncloneable(inner, field === '' ? key : `${field}.${key}`, depth + 1);
    if (found !== undefined) return found;
  }
  return { field, value };
}
