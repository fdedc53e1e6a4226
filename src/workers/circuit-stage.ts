/**
 * The circuit stage: refuses before anything is taken, and once more as the last one before the attempt, when it is let
 * through or is the probe. What the attempt came to settles it.
 */
import type { CircuitPermit, CircuitPlace } from '../shared/breaker/circuit-place.js';
import type { CircuitRefusal } from '../shared/breaker/circuits.js';
import { CircuitOpenError } from '../shared/errors.js';
import type { VerdictKind } from '../shared/verdict.js';
import type { AdmissionStage, Admitted } from './admission.js';
import type { Hold } from './hold.js';
import type { ThreadCircuits } from './thread-circuits.js';

export class CircuitStage implements AdmissionStage {
  readonly name = 'circuit';
  readonly #circuits: ThreadCircuits;
  /** The last one that was looked at: a call that need not wait is looked at twice in a row. */
  #address: string | undefined;
  #place: CircuitPlace | undefined;

  constructor(circuits: ThreadCircuits) {
    this.#circuits = circuits;
  }

  precheck({ address }: Admitted): void {
    if (address === undefined) return;
    const refusal = this.#circuits.refusal(this.#placeOf(address));
    if (refusal !== undefined) throw circuitOpen(refusal);
  }

  enter({ address }: Admitted): Hold | undefined {
    if (address === undefined) return undefined;
    const admitted = this.#circuits.admit(this.#placeOf(address));
    if (admitted.kind === 'refused') throw circuitOpen(admitted);
    return admitted.kind === 'probe'
      ? new ProbeHold(this.#circuits, admitted)
      : new CircuitHold(this.#circuits, admitted);
  }

  #placeOf(address: string): CircuitPlace {
    if (this.#place !== undefined && this.#address === address) return this.#place;
    this.#place = this.#circuits.place(address);
    this.#address = address;
    return this.#place;
  }
}

export function circuitOpen({ address, retryAfterMs }: CircuitRefusal): CircuitOpenError {
  return new CircuitOpenError(
    `the circuit of ${address} is open, try again in ${Math.ceil(retryAfterMs)} ms`,
    { address, retryAfterMs },
  );
}

class CircuitHold implements Hold {
  readonly waitedNs = 0;
  readonly #circuits: ThreadCircuits;
  #permit: CircuitPermit;

  constructor(circuits: ThreadCircuits, permit: CircuitPermit) {
    this.#circuits = circuits;
    this.#permit = permit;
  }

  spend(): void {}

  cancel(): void {
    this.#circuits.settle(this.#permit, 'ignored');
  }

  settle(verdict: VerdictKind): void {
    // Who says that it is busy, or when to come back, is alive.
    const isAnswer = verdict === 'busy' || verdict === 'refused';
    this.#circuits.settle(this.#permit, isAnswer ? 'success' : verdict);
  }

  /** The circuit need not wait for the end: what comes of the rest counts as of any other call from here on. */
  protected prove(): void {
    const { place } = this.#permit;
    this.#circuits.settle(this.#permit, 'success');
    this.#permit = this.#circuits.permitNow(place);
  }
}

/** A probe shows that its peer is alive with the beginning of its answer, however long the rest takes. */
class ProbeHold extends CircuitHold {
  #isOpen = true;
  readonly answered = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.prove();
  };

  override settle(verdict: VerdictKind): void {
    this.#isOpen = false;
    super.settle(verdict);
  }
}
