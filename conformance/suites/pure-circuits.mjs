/**
 * The pure decisions over a map: the plainest way to keep circuits.
 *
 * @typedef {import('../../src/shared/breaker/circuit-state.js').CircuitState} CircuitState
 * @typedef {import('../../src/shared/breaker/settle-permit.js').PermitTerms} PermitTerms
 * @typedef {import('./circuit-breaker.mjs').AllCircuits} AllCircuits
 * @typedef {{ state: CircuitState, touchedAtMs: number, readonly salt: number }} Entry
 * @typedef {{ readonly address: string, readonly terms: PermitTerms }} Permit
 */

const OWNER = 0;

/** @implements {AllCircuits} */
export class PureCircuits {
  #breaker;
  #epoch = 0;
  /** Recovered ones stay, to know late results by. @type {Map<string, Entry>} */
  #entries = new Map();

  /** @param {import('../load-built.mjs').Subject['breaker']} breaker */
  constructor(breaker) {
    this.#breaker = breaker;
  }

  /** @type {AllCircuits['admit']} */
  admit(address, params, nowMs) {
    const entry = this.#entries.get(address);
    const admission = this.#breaker.decideAdmission(entry?.state ?? this.#breaker.HEALTHY, {
      nowMs,
      params,
      salt: 0,
      owner: OWNER,
    });
    if (admission.decision === 'open') return admission;
    if (entry !== undefined) entry.touchedAtMs = nowMs;
    if (admission.decision === 'closed') {
      return { ...admission, permit: { address, terms: { kind: 'closed', epoch: this.#epoch } } };
    }
    this.#put(address, admission.next, nowMs);
    return {
      decision: 'probe',
      permit: { address, terms: { kind: 'probe', probing: admission.next } },
    };
  }

  /** @type {AllCircuits['settle']} */
  settle(permit, outcome, params, nowMs) {
    const { address, terms } = /** @type {Permit} */ (permit);
    const before = this.#entries.get(address)?.state ?? this.#breaker.HEALTHY;
    const { next, effect } = this.#breaker.decideSettlement(before, terms, outcome, {
      nowMs,
      params,
      nextEpoch: this.#epoch + 1,
    });
    if (effect === 'closed') this.#epoch += 1;
    if (next !== before) this.#put(address, next, nowMs);
    this.#makeRoom(params.maxAddresses);
  }

  /** @type {AllCircuits['view']} */
  view(address, params, nowMs) {
    const state = this.#entries.get(address)?.state ?? this.#breaker.HEALTHY;
    return this.#breaker.viewCircuit(state, params, nowMs, 0);
  }

  tracked() {
    return this.#trackedOnes().length;
  }

  /** @type {AllCircuits['sweep']} */
  sweep(params, nowMs) {
    const idle = this.#trackedOnes().filter(([, entry]) =>
      this.#breaker.isIdle(entry, params, nowMs),
    );
    for (const [address] of idle) this.#drop(address);
    return idle.length;
  }

  #trackedOnes() {
    return [...this.#entries].filter(([, { state }]) => this.#breaker.isTracked(state));
  }

  /** @param {number} maxAddresses */
  #makeRoom(maxAddresses) {
    const tracked = this.#trackedOnes().sort(([, a], [, b]) => this.#breaker.evictionOrder(a, b));
    for (const [address] of tracked.slice(0, Math.max(tracked.length - maxAddresses, 0)))
      this.#drop(address);
  }

  /** @param {string} address */
  #drop(address) {
    const state = this.#entries.get(address)?.state;
    const closedEpoch = state?.kind === 'closed' ? state.closedEpoch : ++this.#epoch;
    this.#put(address, { kind: 'closed', failures: 0, closedEpoch }, 0);
  }

  /** @param {string} address @param {CircuitState} state @param {number} nowMs */
  #put(address, state, nowMs) {
    this.#entries.set(address, { state, touchedAtMs: nowMs, salt: 0 });
  }
}
