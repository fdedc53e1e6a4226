// The same stages from cockatiel and limiter: retry around a consecutive breaker around a rate limit.
import {
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleAll,
  retry,
  wrap,
} from 'cockatiel';
import { RateLimiter } from 'limiter';

export function createPolicies() {
  const limiter = new RateLimiter({ tokensPerInterval: 1e12, interval: 'day' });
  const policy = wrap(
    retry(handleAll, { maxAttempts: 2, backoff: new ExponentialBackoff() }),
    circuitBreaker(handleAll, { halfOpenAfter: 30_000, breaker: new ConsecutiveBreaker(3) }),
  );
  return { limiter, policy };
}
