import { timeCalls } from './gate-call.mjs';

export function measure() {
  return timeCalls({ attemptTimeoutMs: 10_000 }, async () => 1);
}
