import type { BreakerParams } from '../../../src/shared/breaker/breaker-params.js';

/** Small round numbers, every optional feature off. */
export function paramsOf(parts: Partial<BreakerParams> = {}): BreakerParams {
  return {
    failureThreshold: 3,
    cooldownMs: 1000,
    probeTimeoutMs: 500,
    cooldownFactor: 1,
    maxCooldownMs: 60_000,
    jitter: 0,
    probesToClose: 1,
    failureRate: 0,
    windowMs: 7000,
    minimumCalls: 4,
    ...parts,
  };
}
