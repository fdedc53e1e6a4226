/** How the page stands with its backend. */
export interface Link {
  /** `down`: nobody answers, or what answered ended; `denied`: a token is asked for. */
  readonly kind: 'opening' | 'stream' | 'polling' | 'down' | 'denied';
  /** When the last state came, ms of the page's clock. */
  readonly updatedMs: number | undefined;
}

export interface LinkStatus {
  readonly kind: 'connecting' | 'connected' | 'stale' | 'denied';
  /** Age of what is shown, ms. */
  readonly ageMs: number | undefined;
}

/** A state is due every second, every other second while polling; three times that without one is stale. */
const STALE_AFTER_MS = { stream: 3000, polling: 6000 } as const;

/** The page's clock may step back: an age is never below 0. */
export function linkStatus({ kind, updatedMs }: Link, nowMs: number): LinkStatus {
  const ageMs = updatedMs === undefined ? undefined : Math.max(0, nowMs - updatedMs);
  if (kind === 'denied') return { kind, ageMs };
  if (ageMs === undefined) return { kind: 'connecting', ageMs };
  const patienceMs = kind === 'polling' ? STALE_AFTER_MS.polling : STALE_AFTER_MS.stream;
  const fresh = ageMs <= patienceMs && kind !== 'down';
  return { kind: fresh ? 'connected' : 'stale', ageMs };
}
