/** The host stage: one permit of the RPC type's bucket, or as many as the call weighs. */
import type { AdmissionStage, Admitted, Hold } from './admission.js';
import type { HostLimiter } from './host-limiter.js';
import type { Grant } from './wait-queue.js';

export class HostStage implements AdmissionStage {
  readonly #limiterOf: (rpc: string) => HostLimiter;

  constructor(limiterOf: (rpc: string) => HostLimiter) {
    this.#limiterOf = limiterOf;
  }

  enter(call: Admitted, maxWaitMs: number): Hold | Promise<Hold> {
    const limiter = this.#limiterOf(call.rpc);
    const grant = limiter.enter(call.weight, maxWaitMs, call.signal);
    return grant instanceof Promise
      ? grant.then((late) => hold(limiter, late))
      : hold(limiter, grant);
  }
}

function hold(limiter: HostLimiter, grant: Grant): Hold {
  return {
    waitedNs: grant.waitedNs,
    spend: () => limiter.spend(grant),
    cancel: () => limiter.cancel(grant),
  };
}
