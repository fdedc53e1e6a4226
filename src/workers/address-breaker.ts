/** The circuit of one address by hand: for code that cannot go through `gate.call`, and for people who know better. */
import type { CircuitPermit, CircuitPlace } from '../shared/breaker/circuit-place.js';
import type { CircuitView } from '../shared/breaker/circuit-view.js';
import type { CircuitOutcome } from '../shared/breaker/settle-permit.js';
import { IllegalStateError, RuntimeClosedError } from '../shared/errors.js';
import { circuitOpen } from './circuit-stage.js';
import type { ThreadCircuits } from './thread-circuits.js';

export class AddressBreaker {
  readonly #circuits: ThreadCircuits;
  readonly #place: CircuitPlace;
  readonly #isClosed: () => boolean;

  /** @internal */
  constructor(circuits: ThreadCircuits, address: string, isClosed: () => boolean) {
    if (isClosed()) throw new RuntimeClosedError();
    this.#circuits = circuits;
    this.#place = circuits.place(address);
    this.#isClosed = isClosed;
  }

  /** The canonical form, which all spellings of the same peer share. */
  get address(): string {
    return this.#place.address;
  }

  /**
   * Lets one call through, to be settled when it has ended. A probe that is not settled is lost at its deadline
   * (`breaker.probeTimeoutMs`), or when its thread ends.
   * @throws CircuitOpenError, RuntimeClosedError.
   */
  admit(): BreakerPermit {
    this.#requireOpenRuntime();
    const admitted = this.#circuits.admit(this.#place);
    if (admitted.kind === 'refused') throw circuitOpen(admitted);
    return new BreakerPermit(this.#circuits, admitted);
  }

  /** As all threads see it at this moment. @throws RuntimeClosedError. */
  state(): CircuitView {
    this.#requireOpenRuntime();
    return this.#circuits.view(this.#place);
  }

  /**
   * Opens the circuit in all threads, until `close()`.
   * @throws IllegalStateError when the breaker is switched off, or when there is no room for one more unhealthy address;
   * RuntimeClosedError.
   */
  open(): void {
    this.#requireOpenRuntime();
    if (!this.#circuits.enabled)
      throw new IllegalStateError('the breaker is switched off (breaker.enabled)');
    if (!this.#circuits.isolate(this.#place))
      throw new IllegalStateError(
        `there is no room for the circuit of ${this.address} (breaker.maxAddresses)`,
      );
  }

  /** Closes the circuit in all threads, whatever it was; calls under way count no more. @throws RuntimeClosedError. */
  close(): void {
    this.#requireOpenRuntime();
    this.#circuits.close(this.#place);
  }

  #requireOpenRuntime(): void {
    if (this.#isClosed()) throw new RuntimeClosedError();
  }
}

/** One call that was let through. */
export class BreakerPermit {
  readonly #circuits: ThreadCircuits;
  readonly #permit: CircuitPermit;
  #settled = false;

  /** @internal */
  constructor(circuits: ThreadCircuits, permit: CircuitPermit) {
    this.#circuits = circuits;
    this.#permit = permit;
  }

  /** The only call that tries the address at this time: as long as it is not settled, all others are refused. */
  get isProbe(): boolean {
    return this.#permit.kind === 'probe';
  }

  /** The peer has answered. @throws IllegalStateError when it was settled before. */
  success(): void {
    this.#settle('success');
  }

  /** It has not, or with an internal error. @throws IllegalStateError when it was settled before. */
  failure(): void {
    this.#settle('failure');
  }

  /** The call says nothing about the peer: the caller has gone, say. @throws IllegalStateError when it was settled before. */
  ignored(): void {
    this.#settle('ignored');
  }

  #settle(outcome: CircuitOutcome): void {
    if (this.#settled) throw new IllegalStateError('a permit can be settled once only');
    this.#settled = true;
    this.#circuits.settle(this.#permit, outcome);
  }
}
