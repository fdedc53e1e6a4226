import { types } from 'node:util';

/**
 * Values of error fields on their way to another thread. Plain data arrives as it was; what cannot be cloned, is a cycle,
 * or would make the message too big arrives as text in square brackets. Nothing here throws because of a value.
 */

export type WirePrimitive = string | number | bigint | boolean | null | undefined;

export type WireValue =
  | WirePrimitive
  | { readonly kind: 'array'; readonly items: readonly WireValue[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, WireValue])[] }
  | { readonly kind: 'date'; readonly ms: number }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'error'; readonly error: unknown };

/** How much one message may still hold. Shared by everything in it, so that the whole is bounded. */
export interface WireBudget {
  nodes: number;
  chars: number;
  /** What is being encoded right now, outermost first: meeting one of them again is a cycle. */
  readonly open: Set<object>;
}

const MAX_NODES = 1000;
const MAX_CHARS = 65_536;
const MAX_TEXT = 8192;
const MAX_DEPTH = 12;

export function newBudget(): WireBudget {
  return { nodes: MAX_NODES, chars: MAX_CHARS, open: new Set() };
}

/** Cut to what one text, and what is left of the message, may hold. */
export function boundedText(text: string, budget: WireBudget): string {
  const max = Math.min(MAX_TEXT, budget.chars);
  const kept = text.length <= max ? text : `${text.slice(0, max)}...`;
  budget.chars -= Math.min(text.length, max);
  return kept;
}

/** Runs `read`, which touches somebody else's object (getters, proxies), and gives `otherwise` if that throws. */
export function readSafely<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

export function encodeValue(
  value: unknown,
  budget: WireBudget,
  encodeError: (error: Error, budget: WireBudget) => unknown,
): WireValue {
  if (typeof value === 'string') return boundedText(value, budget);
  if (typeof value === 'symbol') return boundedText(`[${value.toString()}]`, budget);
  if (typeof value === 'function') return boundedText(`[function ${nameOf(value)}]`, budget);
  if (typeof value !== 'object' || value === null) return value as WirePrimitive;
  if (budget.open.has(value)) return '[circular]';
  if (budget.nodes <= 0 || budget.open.size >= MAX_DEPTH) return '[truncated]';
  budget.nodes -= 1;
  budget.open.add(value);
  const encoded = readSafely<WireValue>(
    () => encodeObject(value, budget, encodeError),
    '[unreadable]',
  );
  budget.open.delete(value);
  return encoded;
}

function encodeObject(
  value: object,
  budget: WireBudget,
  encodeError: (error: Error, budget: WireBudget) => unknown,
): WireValue {
  if (isError(value)) return { kind: 'error', error: encodeError(value, budget) };
  if (value instanceof Date) return { kind: 'date', ms: value.getTime() };
  if (value instanceof Uint8Array) return encodeBytes(value, budget);
  if (Array.isArray(value)) {
    const items: WireValue[] = [];
    for (let i = 0; i < value.length && budget.nodes > 0; i += 1) {
      budget.nodes -= 1;
      items.push(encodeValue(value[i], budget, encodeError));
    }
    if (items.length < value.length) items.push(`[${value.length - items.length} more]`);
    return { kind: 'array', items };
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain) return boundedText(`[${nameOf(value.constructor)}]`, budget);
  return { kind: 'object', entries: encodeEntries(value, Object.keys(value), budget, encodeError) };
}

/** The named properties of any object, as many as there is room for. */
export function encodeEntries(
  from: object,
  keys: readonly string[],
  budget: WireBudget,
  encodeError: (error: Error, budget: WireBudget) => unknown,
): (readonly [string, WireValue])[] {
  const entries: (readonly [string, WireValue])[] = [];
  for (const key of keys) {
    if (budget.nodes <= 0 || budget.chars <= 0) break;
    budget.nodes -= 1;
    const value = readSafely<unknown>(() => Reflect.get(from, key), '[unreadable]');
    entries.push([boundedText(key, budget), encodeValue(value, budget, encodeError)]);
  }
  return entries;
}

/** Also errors of another realm, such as those of `node:vm`. */
function isError(value: object): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

function encodeBytes(value: Uint8Array, budget: WireBudget): WireValue {
  if (value.length > budget.chars) return `[${value.length} bytes]`;
  budget.chars -= value.length;
  // A copy of its own: a pooled buffer would take its whole pool along.
  return { kind: 'bytes', bytes: Uint8Array.from(value) };
}

function nameOf(value: unknown): string {
  const name = readSafely<unknown>(() => (value as { name?: unknown }).name, '');
  return typeof name === 'string' && name !== '' ? name : 'anonymous';
}

export function decodeValue(wire: WireValue, decodeError: (error: unknown) => unknown): unknown {
  if (typeof wire !== 'object' || wire === null) return wire;
  switch (wire.kind) {
    case 'array':
      return wire.items.map((item) => decodeValue(item, decodeError));
    case 'object':
      return decodeEntries({}, wire.entries, decodeError);
    case 'date':
      return new Date(wire.ms);
    case 'bytes':
      return wire.bytes;
    case 'error':
      return decodeError(wire.error);
  }
}

/** Defines, not assigns: a key `__proto__` is a key like any other. */
export function decodeEntries<T extends object>(
  target: T,
  entries: readonly (readonly [string, WireValue])[],
  decodeError: (error: unknown) => unknown,
): T {
  for (const [key, wire] of entries) {
    const value = decodeValue(wire, decodeError);
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return target;
}
