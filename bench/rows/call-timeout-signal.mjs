import { timeCalls } from './gate-call.mjs';

export function measure() {
  const { signal } = new AbortController();
  return timeCalls({ attemptTimeoutMs: 10_000, signal }, async (context) =>
    context.signal?.aborted === false ? 1 : 0,
  );
}
