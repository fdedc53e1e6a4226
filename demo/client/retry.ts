import type { Random } from '../load/random.js';
import type { RetryPolicy } from '../scenario.js';

/** Exponential backoff with full jitter before retry 1, 2, ...; `draw` in [0, 1). */
export function backoffMs(policy: RetryPolicy, retry: number, draw: number): number {
  return draw * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (retry - 1));
}

export interface RetryPorts {
  readonly random: Random;
  readonly sleep: (delayMs: number) => Promise<void>;
  readonly isRetriable: (error: unknown) => boolean;
}

/** The usual retry loop, the same in both runs. Throws the last attempt's error. */
export async function callWithRetries<T>(
  policy: RetryPolicy,
  ports: RetryPorts,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let made = 1; ; made += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (made >= policy.attempts || !ports.isRetriable(error)) throw error;
      await ports.sleep(backoffMs(policy, made, ports.random()));
    }
  }
}
