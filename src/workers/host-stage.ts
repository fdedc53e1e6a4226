/** The host stage: one permit of the RPC type's bucket, or as many as the call weighs. */
import type { AdmissionStage, Admitted } from './admission.js';
import type { Hold } from './hold.js';
import type { HostLimiter } from './host-limiter.js';
import type { Grant } from './queued-limiter.js';

export class HostStage implements AdmissionStage {
  readonly name = 'host';
  readonly #limiterOf: (rpc: string) => HostLimiter;

  constructor(limiterOf: (rpc: string) => HostLimiter) {
    this.#limiterOf = limiterOf;
  }

  enter(call: Admitted, maxWaitMs: number): Hold | Promise<Hold> {
    const limiter = call.limiter ?? this.#limiterOf(call.rpc);
    const spot = limiter.holdNow(call.weight, call.signal);
    if (spot !== undefined) return spot;
    const grant = limiter.enter(call.weight, maxWaitMs, call.signal);
    return grant instanceof Promise
      ? grant.then((late) => new HostHold(limiter, late))
      : new HostHold(limiter, grant);
  }
}

class HostHold implements Hold {
  readonly #limiter: HostLimiter;
  readonly #grant: Grant;

  constructor(limiter: HostLimiter, grant: Grant) {
    this.#limiter = limiter;
    this.#grant = grant;
  }

  get waitedNs(): number {
    return this.#grant.waitedNs;
  }

  spend(): void {
    this.#limiter.spend(this.#grant);
  }

  cancel(): void {
    this.#limiter.cancel(this.#grant);
  }
}
