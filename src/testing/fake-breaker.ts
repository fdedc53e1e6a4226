import type { CircuitView } from '../shared/breaker/circuit-view.js';
import { IllegalStateError } from '../shared/errors.js';
import type { VerdictKind } from '../shared/verdict.js';

/** What the gate does for its breakers. */
export interface FakeBreakerPort {
  /** @throws RuntimeClosedError. */
  requireOpen(): void;
  /** @returns what takes the outcome. @throws CircuitOpenError, RuntimeClosedError. */
  admit(): (verdict: VerdictKind) => void;
  /** Until a probe may go, as circuits that were opened by hand say, ms. */
  readonly retryAfterMs: number;
}

/** One address of a fake gate. Circuits open by hand, or for a request by the test's answer; failures open none. */
export class FakeBreaker {
  /** Canonical. */
  readonly address: string;
  readonly #isolated: Set<string>;
  readonly #port: FakeBreakerPort;

  /** `isolated`: the addresses of the gate that are open by hand. */
  constructor(address: string, isolated: Set<string>, port: FakeBreakerPort) {
    this.address = address;
    this.#isolated = isolated;
    this.#port = port;
  }

  admit(): FakePermit {
    return new FakePermit(this.#port.admit());
  }

  state(): CircuitView {
    this.#port.requireOpen();
    const isolated = this.#isolated.has(this.address);
    return {
      state: isolated ? 'open' : 'closed',
      isolated,
      consecutiveFailures: 0,
      retryAfterMs: isolated ? this.#port.retryAfterMs : 0,
    };
  }

  open(): void {
    this.#port.requireOpen();
    this.#isolated.add(this.address);
  }

  close(): void {
    this.#port.requireOpen();
    this.#isolated.delete(this.address);
  }
}

/** One call that was let through; to be settled once. */
export class FakePermit {
  readonly isProbe: boolean = false;
  readonly #settle: (verdict: VerdictKind) => void;
  #settled = false;

  constructor(settle: (verdict: VerdictKind) => void) {
    this.#settle = settle;
  }

  success(): void {
    this.#end('success');
  }

  failure(): void {
    this.#end('failure');
  }

  ignored(): void {
    this.#end('ignored');
  }

  #end(verdict: VerdictKind): void {
    if (this.#settled) throw new IllegalStateError('a permit can be settled once only');
    this.#settled = true;
    this.#settle(verdict);
  }
}
