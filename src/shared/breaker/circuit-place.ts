/** Where one thread found the circuit of an address last: its cell, or that there is none. */
import type { HalfOpenCircuit } from './circuit-state.js';

export class CircuitPlace {
  /** Canonical. */
  readonly address: string;
  /** Byte offset of the cell, 0: there was none. Holds as long as the epoch of `permit`. */
  cell = 0;
  /** Of the cell, for who is told of it later. */
  generation = 0;
  /** For calls that are admitted in the epoch in which this was found out. One object for all of them. */
  permit: ClosedPermit;

  constructor(address: string) {
    this.address = address;
    this.permit = { kind: 'closed', place: this, epoch: 0 };
  }
}

/** A call that a closed circuit has admitted. Holds nothing, so that any number of calls may share it. */
export interface ClosedPermit {
  readonly kind: 'closed';
  readonly place: CircuitPlace;
  readonly epoch: number;
}

/** The one call that tries the address. To be settled once. */
export interface ProbePermit {
  readonly kind: 'probe';
  readonly place: CircuitPlace;
  readonly probing: HalfOpenCircuit;
  /** The probe before it did not answer in time. */
  readonly replacesLost: boolean;
}

export type CircuitPermit = ClosedPermit | ProbePermit;
