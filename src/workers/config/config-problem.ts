import { ConfigError } from '../../shared/errors.js';

const MAX_QUOTED = 64;

/** Where an option's value came from, for messages: `be.conf:12: `, or nothing for a value given in code. */
export type Locate = (field: string) => string;

/** What came, as the end of a message: short, whatever it is. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string': {
      const short = value.length > MAX_QUOTED ? `${value.slice(0, MAX_QUOTED)}...` : value;
      return `'${short.replace(/[\p{Cc}\p{Cf}]/gu, '?')}'`;
    }
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? 'an array' : 'an object';
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    default:
      return String(value);
  }
}

/**
 * `tables.ratio must be > 0 and < 1, got NaN`. `where` is `be.conf:12: ` for a value that a file gave. The error keeps the
 * value only if it is a primitive: it may cross threads.
 */
export function configProblem(
  field: string,
  rule: string,
  value: unknown,
  where = '',
  options?: ErrorOptions,
): ConfigError {
  const isPrimitive = value === null || (typeof value !== 'object' && typeof value !== 'function');
  const kept = isPrimitive && typeof value !== 'symbol' ? value : describeValue(value);
  const message = `${where}${field} ${rule}, got ${describeValue(value)}`;
  return new ConfigError(message, { field, rule, value: kept }, options);
}
