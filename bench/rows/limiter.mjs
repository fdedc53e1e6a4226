import { RateLimiter } from 'limiter';
import { timeLoop } from '../harness/time-loop.mjs';

export function measure() {
  const limiter = new RateLimiter({ tokensPerInterval: 1e12, interval: 'day' });
  return timeLoop((n) => {
    let granted = 0;
    for (let i = 0; i < n; i += 1) if (limiter.tryRemoveTokens(1)) granted += 1;
    return granted;
  });
}
