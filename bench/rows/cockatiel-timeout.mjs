import { TimeoutStrategy, timeout, wrap } from 'cockatiel';
import { timeAsyncLoop } from '../harness/async-loop.mjs';
import { createPolicies } from './cockatiel-policy.mjs';

export function measure() {
  const { limiter, policy } = createPolicies();
  const timed = wrap(policy, timeout(10_000, TimeoutStrategy.Aggressive));
  const { signal } = new AbortController();
  return timeAsyncLoop(async (n) => {
    let right = 0;
    for (let i = 0; i < n; i += 1) {
      const value = await timed.execute(async (context) => {
        await limiter.removeTokens(1);
        return context.signal.aborted ? 0 : 1;
      }, signal);
      if (value === 1) right += 1;
    }
    return right;
  });
}
