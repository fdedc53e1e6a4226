/**
 * One thread's circuits: what it knows of addresses, its counters, and what it tells the control thread. The healthy case
 * is one look at one shared word, and neither reads the clock nor allocates.
 */

import { canonicalAddress } from '../shared/breaker/canonical-address.js';
import type { CircuitMemory } from '../shared/breaker/circuit-memory.js';
import type { CircuitPermit, CircuitPlace } from '../shared/breaker/circuit-place.js';
import type { CircuitView } from '../shared/breaker/circuit-view.js';
import { type CircuitRefusal, Circuits, type Settled } from '../shared/breaker/circuits.js';
import { PlaceCache } from '../shared/breaker/place-cache.js';
import type { CircuitOutcome } from '../shared/breaker/settle-permit.js';
import { RuntimeClosedError } from '../shared/errors.js';
import { CIRCUIT_STATS } from '../shared/layout.js';
import { BY_HAND, RECORD, type ReportRing } from './report-ring.js';
import type { ThreadContext } from './thread-context.js';

export interface ThreadCircuitsParts {
  readonly thread: ThreadContext;
  readonly memory: CircuitMemory;
  /** Index of the thread's place. */
  readonly owner: number;
  readonly ring: ReportRing;
  /** There was no room for an address: what this thread still holds up may be reused from here on. */
  readonly onFull: () => void;
}

export class ThreadCircuits {
  readonly #parts: ThreadCircuitsParts;
  readonly #circuits: Circuits;
  readonly #places: PlaceCache<CircuitPlace>;
  #left = false;

  constructor(parts: ThreadCircuitsParts) {
    this.#parts = parts;
    this.#circuits = new Circuits(parts.memory, parts.owner);
    this.#places = new PlaceCache((address) => this.#circuits.placeOf(canonicalAddress(address)));
  }

  /** @throws TypeError, RangeError for what is no address. */
  place(address: string): CircuitPlace {
    return this.#places.get(address);
  }

  /** Whether a call would be refused now; changes nothing. The refusal is counted. */
  refusal(place: CircuitPlace): CircuitRefusal | undefined {
    if (this.#circuits.isHealthy(place)) return undefined;
    const { thread } = this.#parts;
    const { breaker } = thread.settings();
    if (!breaker.enabled) return undefined;
    const refusal = this.#circuits.refusal(place, breaker, this.#nowMs());
    if (refusal !== undefined) this.#count('REFUSED');
    return refusal;
  }

  admit(place: CircuitPlace): CircuitPermit | CircuitRefusal {
    return this.#circuits.isHealthy(place) ? place.permit : this.#admitUnhealthy(place);
  }

  /** For a call under way whose probe has settled: of a circuit that is closed now, else it settles nothing. */
  permitNow(place: CircuitPlace): CircuitPermit {
    this.#circuits.isHealthy(place);
    return place.permit;
  }

  /** Once per permit. */
  settle(permit: CircuitPermit, outcome: CircuitOutcome): void {
    if (permit.kind === 'closed') {
      if (outcome === 'ignored') return;
      if (outcome === 'success' && this.#circuits.isHealthy(permit.place)) return;
    }
    this.#settleUnhealthy(permit, outcome);
  }

  view(place: CircuitPlace): CircuitView {
    return this.#circuits.view(place, this.#parts.thread.settings().breaker, this.#nowMs());
  }

  get enabled(): boolean {
    return this.#parts.thread.settings().breaker.enabled;
  }

  /** @returns false when there is no room for the address. */
  isolate(place: CircuitPlace): boolean {
    const nowMs = this.#nowMs();
    const effect = this.#circuits.isolate(place, nowMs);
    if (effect !== 'isolated') return effect === 'unchanged';
    this.#count('OPENED');
    this.#tell(RECORD.CIRCUIT_OPENED, place, place.cell, nowMs, BY_HAND);
    return true;
  }

  close(place: CircuitPlace): void {
    const nowMs = this.#nowMs();
    if (!this.#circuits.close(place, nowMs)) return;
    this.#count('CLOSED');
    this.#tell(RECORD.CIRCUIT_CLOSED, place, place.cell, nowMs, BY_HAND);
  }

  /** The thread has left: its probes are swept, and what it looks at may be reused. */
  leave(): void {
    this.#left = true;
  }

  #admitUnhealthy(place: CircuitPlace): CircuitPermit | CircuitRefusal {
    // A probe of a thread that has left would be nobody's.
    if (this.#left) throw new RuntimeClosedError();
    const { breaker } = this.#parts.thread.settings();
    if (!breaker.enabled) return place.permit;
    const nowMs = this.#nowMs();
    const admitted = this.#circuits.admit(place, breaker, nowMs);
    if (admitted.kind === 'refused') this.#count('REFUSED');
    else if (admitted.kind === 'probe') {
      this.#count('PROBES');
      if (admitted.replacesLost) this.#count('PROBES_LOST');
      this.#tell(RECORD.CIRCUIT_HALF_OPEN, place, place.cell, admitted.probing.probeAtMs, 0);
    }
    return admitted;
  }

  #settleUnhealthy(permit: CircuitPermit, outcome: CircuitOutcome): void {
    if (this.#left) return;
    const { breaker } = this.#parts.thread.settings();
    if (!breaker.enabled && permit.kind === 'closed') return;
    const nowMs = this.#nowMs();
    const settled = this.#circuits.settle(permit, outcome, breaker, nowMs);
    if (settled.effect !== 'none') this.#note(permit.place, settled, nowMs);
  }

  #note(place: CircuitPlace, { effect, failures, cell }: Settled, nowMs: number): void {
    switch (effect) {
      case 'tracked':
        this.#tell(RECORD.CIRCUIT_TRACKED, place, cell, nowMs, 0);
        break;
      case 'opened':
        this.#count('OPENED');
        this.#tell(RECORD.CIRCUIT_OPENED, place, cell, nowMs, failures);
        break;
      case 'reopened':
        this.#count('OPENED');
        this.#tell(RECORD.CIRCUIT_REOPENED, place, cell, nowMs, failures);
        break;
      case 'closed':
        this.#count('CLOSED');
        this.#tell(RECORD.CIRCUIT_CLOSED, place, cell, nowMs, 0);
        break;
      case 'late':
        this.#count('LATE');
        break;
      case 'untracked':
        this.#count('UNTRACKED');
        this.#parts.onFull();
        break;
    }
  }

  #tell(kind: number, place: CircuitPlace, cell: number, atMs: number, count: number): void {
    const { ring, memory } = this.#parts;
    ring.send(kind, memory.directory.indexOf(cell), place.generation, atMs, count);
  }

  #count(event: keyof typeof CIRCUIT_STATS): void {
    const { thread } = this.#parts;
    thread.count(thread.place.circuits + CIRCUIT_STATS[event], 1);
  }

  #nowMs(): number {
    return this.#parts.thread.nowNs() / 1e6;
  }
}
