/** Whether a value takes time to come: a promise, or what can be awaited like one. Throws what a getter `then` throws. */
export function isThenable<T>(value: Promise<T> | T): value is Promise<T> {
  if (value instanceof Promise) return true;
  const isObject = typeof value === 'object' ? value !== null : typeof value === 'function';
  return isObject && typeof (value as { then?: unknown }).then === 'function';
}
