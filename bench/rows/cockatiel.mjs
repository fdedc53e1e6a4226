import { timeAsyncLoop } from '../harness/async-loop.mjs';
import { createPolicies } from './cockatiel-policy.mjs';

export function measure() {
  const { limiter, policy } = createPolicies();
  const attempt = async () => 1;
  return timeAsyncLoop(async (n) => {
    let right = 0;
    for (let i = 0; i < n; i += 1) {
      const value = await policy.execute(async () => {
        await limiter.removeTokens(1);
        return attempt();
      });
      if (value === 1) right += 1;
    }
    return right;
  });
}
