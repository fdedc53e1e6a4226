/**
 * The circuit stage: refuses before anything is taken, and once more as the last one before the attempt, when it is let
 * through or is the probe. What the attempt came to settles it.
 */
import type { CircuitPermit } from '../shared/breaker/circuit-place.js';
import type { CircuitRefusal } from '../shared/breaker/circuits.js';
import { CircuitOpenError } from '../shared/errors.js';
import type { VerdictKind } from '../shared/verdict.js';
import type { AdmissionStage, Admitted, Hold } from './admission.js';
import type { ThreadCircuits } from './thread-circuits.js';

export class CircuitStage implements AdmissionStage {
  readonly name = 'circuit';
  readonly #circuits: ThreadCircuits;

  constructor(circuits: ThreadCircuits) {
    this.#circuits = circuits;
  }

  precheck({ address }: Admitted): void {
    if (address === undefined) return;
    const refusal = this.#circuits.refusal(this.#circuits.place(address));
    if (refusal !== undefined) throw circuitOpen(refusal);
  }

  enter({ address }: Admitted): Hold | undefined {
    if (address === undefined) return undefined;
    const admitted = this.#circuits.admit(this.#circuits.place(address));
    if (admitted.kind === 'refused') throw circuitOpen(admitted);
    return new CircuitHold(this.#circuits, admitted);
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
  readonly #permit: CircuitPermit;

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
}
