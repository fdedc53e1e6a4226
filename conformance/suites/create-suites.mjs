import { circuitBreakerSuite } from './circuit-breaker.mjs';
import { clientThrottleSuite } from './client-throttle.mjs';
import { flushMachineSuite } from './flush-machine.mjs';
import { preWriteBufferSuite } from './pre-write-buffer.mjs';
import { pressureGaugeSuite } from './pressure-gauge.mjs';
import { qpsRegistrySuite } from './qps-registry.mjs';
import { strictLimiterSuite } from './strict-limiter.mjs';
import { coordinatorSuite } from './throttle-coordinator.mjs';
import { lifecycleSuite } from './throttle-lifecycle.mjs';
import { stateMachineSuite } from './throttle-state-machine.mjs';
import { tokenBucketSuite } from './token-bucket.mjs';

/**
 * Every suite that is implemented, by name.
 *
 * @param {import('../load-built.mjs').Subject} subject
 * @returns {ReadonlyMap<string, import('../runner/run-file.mjs').Suite>}
 */
export function createSuites(subject) {
  return new Map([
    ['throttle-state-machine', stateMachineSuite(subject)],
    ['throttle-coordinator', coordinatorSuite(subject)],
    ['strict-limiter', strictLimiterSuite(subject)],
    ['token-bucket', tokenBucketSuite(subject)],
    ['qps-registry', qpsRegistrySuite(subject)],
    ['throttle-lifecycle', lifecycleSuite(subject)],
    ['circuit-breaker', circuitBreakerSuite(subject)],
    ['pressure-gauge', pressureGaugeSuite(subject)],
    ['client-throttle', clientThrottleSuite(subject)],
    ['pre-write-buffer', preWriteBufferSuite(subject)],
    ['flush-machine', flushMachineSuite(subject)],
  ]);
}
