import type { RuntimeSnapshot } from '../../../../../workers/snapshot.js';

/** A bucket of a store elsewhere that has asked its writers here to slow down. */
export interface ClientWindow {
  readonly bucket: string;
  /** 0 to 1. */
  readonly pressure: number;
  readonly remainingMs: number;
}

/** Those in force, the highest pressure first. */
export function clientWindows(runtime: RuntimeSnapshot | null): ClientWindow[] {
  const given = (runtime as { readonly pressure?: readonly ClientWindow[] } | null)?.pressure ?? [];
  return given
    .map(({ bucket, pressure, remainingMs }) => ({ bucket: String(bucket), pressure, remainingMs }))
    .sort((a, b) => b.pressure - a.pressure || b.remainingMs - a.remainingMs);
}
