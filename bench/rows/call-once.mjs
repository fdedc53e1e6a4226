import { timeCalls } from './gate-call.mjs';

export function measure() {
  return timeCalls({}, async () => 1, { maxAttempts: 1 });
}
