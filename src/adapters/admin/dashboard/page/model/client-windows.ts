import type { PressureSnapshot, RuntimeSnapshot } from '../../../../../workers/snapshot.js';

/** Buckets elsewhere that have asked to slow down, the highest pressure first. */
export function clientWindows(runtime: RuntimeSnapshot | null): PressureSnapshot[] {
  return [...(runtime?.pressure ?? [])].sort(
    (a, b) => b.pressure - a.pressure || b.remainingMs - a.remainingMs,
  );
}
