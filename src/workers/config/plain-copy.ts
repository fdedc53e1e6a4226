import { configProblem, type Locate } from './config-problem.js';

/** Options are three levels deep (`host.rpcs.name.burst` is four keys); what is much deeper, or a cycle, is a mistake. */
const MAX_DEPTH = 8;
/** No list of RPC types is longer, but an array can claim 2^32 places without holding anything. */
const MAX_LENGTH = 4096;

export type PlainObject = { [key: string]: unknown };

export function isPlainObject(value: unknown): value is PlainObject {
  return Object.prototype.toString.call(value) === '[object Object]';
}

/** An object without a prototype, so that no key of it means anything but itself. */
export function emptyObject(): PlainObject {
  return Object.create(null) as PlainObject;
}

/** What the whole thing is called in messages, and where it came from. */
export interface CopySource {
  readonly root: string;
  readonly locate: Locate;
}

/**
 * A copy that shares nothing with the caller's object: plain objects (own enumerable string keys) and arrays are copied,
 * other values are kept as they are for the schema to judge. Every property is read exactly once.
 */
export function plainCopy(value: unknown, source: CopySource, field = '', depth = 0): unknown {
  const refuse = (rule: string): never => {
    throw configProblem(field || source.root, rule, value, source.locate(field));
  };
  if (depth > MAX_DEPTH) return refuse('must not be nested that deep');
  if (Array.isArray(value)) {
    if (value.length > MAX_LENGTH) return refuse(`must have at most ${MAX_LENGTH} places`);
    return Array.from(value, (item, i) => plainCopy(item, source, `${field}[${i}]`, depth + 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  if (!isPlainObject(value)) return refuse('must be a plain object or a value');
  const copy = emptyObject();
  for (const key of Object.keys(value)) {
    const path = field === '' ? key : `${field}.${key}`;
    copy[key] = plainCopy(readProperty(value, key, path), source, path, depth + 1);
  }
  return copy;
}

function readProperty(from: PlainObject, key: string, path: string): unknown {
  try {
    return from[key];
  } catch (cause) {
    throw configProblem(path, 'must be readable', 'a getter that throws', '', { cause });
  }
}
