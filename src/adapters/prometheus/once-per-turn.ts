/** A register reads all its metrics in one turn: they show one moment, which is read once. */
export function oncePerTurn<Value>(read: () => Value): () => Value {
  let last: { readonly value: Value } | undefined;
  return () => {
    if (last !== undefined) return last.value;
    const fresh = { value: read() };
    last = fresh;
    queueMicrotask(() => {
      last = undefined;
    });
    return fresh.value;
  };
}
