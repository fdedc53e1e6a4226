/**
 * Circuits in shared memory, with a thread that uses them and the upkeep that the control thread gives them, one after the
 * other.
 *
 * @typedef {import('./circuit-breaker.mjs').AllCircuits} AllCircuits
 * @typedef {import('../../src/shared/breaker/circuit-place.js').CircuitPermit} CircuitPermit
 * @typedef {import('../../src/shared/breaker/circuit-place.js').CircuitPlace} CircuitPlace
 */

const EPOCH = 0;
const BASE = 64;
const OWNER = 0;
/** One thread: it is inside no operation when the keeper is at work. */
const NOBODY_INSIDE = { request: () => 0, passed: () => true };

/** @implements {AllCircuits} */
export class ArenaCircuits {
  #breaker;
  #circuits;
  #upkeep;
  #keeper;
  /** @type {Map<string, CircuitPlace>} */
  #places = new Map();

  /**
   * @param {import('../load-built.mjs').Subject['breaker']} breaker
   * @param {number} maxAddresses
   */
  constructor(breaker, maxAddresses) {
    const cells = breaker.cellsFor(maxAddresses);
    const buffer = new SharedArrayBuffer(BASE + breaker.circuitMemoryBytes(cells));
    const memory = breaker.openCircuitMemory({ buffer, base: BASE, cells, epoch: EPOCH });
    this.#breaker = breaker;
    this.#circuits = new breaker.Circuits(memory, OWNER);
    this.#upkeep = new breaker.DirectoryKeeper(buffer, BASE, cells, NOBODY_INSIDE);
    this.#keeper = new breaker.CircuitKeeper(memory, this.#upkeep);
  }

  /** @type {AllCircuits['admit']} */
  admit(address, params, nowMs) {
    const admitted = this.#circuits.admit(this.#place(address), params, nowMs);
    if (admitted.kind !== 'refused') return { decision: admitted.kind, permit: admitted };
    return { decision: 'open', retryAfterMs: admitted.retryAfterMs };
  }

  /** @type {AllCircuits['settle']} */
  settle(permit, outcome, params, nowMs) {
    this.#circuits.settle(/** @type {CircuitPermit} */ (permit), outcome, params, nowMs);
    this.#keeper.makeRoom(params.maxAddresses);
    this.#maintain();
  }

  /** @type {AllCircuits['view']} */
  view(address, params, nowMs) {
    return this.#circuits.view(this.#place(address), params, nowMs);
  }

  tracked() {
    return this.#keeper.tracked();
  }

  /** @type {AllCircuits['sweep']} */
  sweep(params, nowMs) {
    const { forgotten } = this.#keeper.sweep(params, nowMs);
    this.#maintain();
    return forgotten.filter(({ state }) => this.#breaker.isTracked(state)).length;
  }

  /** @param {string} address */
  #place(address) {
    const place = this.#places.get(address) ?? this.#circuits.placeOf(address);
    this.#places.set(address, place);
    return place;
  }

  #maintain() {
    while (this.#upkeep.maintain() !== 'idle');
  }
}
