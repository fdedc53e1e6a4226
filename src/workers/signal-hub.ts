/**
 * One `abort` listener per signal and thread, whatever the number of waiters on it, and none when nobody waits: a
 * long-lived signal collects nothing, and an abort costs one step per waiter.
 */
export interface SignalHub {
  /** Calls `onAbort` once if `signal` aborts before the returned function is called. */
  watch(signal: AbortSignal, onAbort: () => void): () => void;
}

export function createSignalHub(): SignalHub {
  const watched = new WeakMap<
    AbortSignal,
    { readonly waiters: Set<() => void>; readonly listener: () => void }
  >();

  return {
    watch(signal, onAbort) {
      let entry = watched.get(signal);
      if (entry === undefined) {
        const waiters = new Set<() => void>();
        const listener = (): void => {
          watched.delete(signal);
          for (const waiter of waiters) waiter();
          waiters.clear();
        };
        entry = { waiters, listener };
        watched.set(signal, entry);
        signal.addEventListener('abort', listener, { once: true });
      }
      const { waiters, listener } = entry;
      // A fresh function per watch: the same callback may wait twice.
      const waiter = (): void => onAbort();
      waiters.add(waiter);
      return () => {
        if (!waiters.delete(waiter) || waiters.size > 0 || watched.get(signal)?.waiters !== waiters)
          return;
        watched.delete(signal);
        signal.removeEventListener('abort', listener);
      };
    },
  };
}
