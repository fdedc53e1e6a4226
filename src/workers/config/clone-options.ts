import { configProblem } from './config-problem.js';
import { isPlainObject } from './plain-copy.js';

/** Options are three levels deep; what is deeper is one value. */
const MAX_DEPTH = 8;

/**
 * A copy that crosses threads, taken now: what the caller changes later is not meant.
 * @throws ConfigError that names the first thing that cannot cross, such as a function.
 */
export function cloneOptions<Options>(options: Options): Options {
  try {
    return structuredClone(options);
  } catch (cause) {
    const found = uncloneable(options, '', 0);
    throw configProblem(
      found?.field || 'the configuration',
      'must be plain data',
      found?.value,
      '',
      { cause },
    );
  }
}

function uncloneable(
  value: unknown,
  field: string,
  depth: number,
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
