import { ArenaCircuits } from './arena-circuits.mjs';
import { PureCircuits } from './pure-circuits.mjs';

/**
 * @typedef {import('../../src/shared/breaker/breaker-params.js').BreakerParams
 *   & import('../../src/shared/breaker/breaker-params.js').RetentionParams} Params
 * @typedef {import('../../src/shared/breaker/settle-permit.js').CircuitOutcome} Outcome
 * @typedef {Params & { readonly at: number, readonly address: string, readonly as?: string, readonly permit: string,
 *   readonly outcome: Outcome }} Inputs
 */

/**
 * The circuits of all addresses, however they are kept. An admission has the decision and, unless it is `open`, a permit.
 *
 * @typedef {{
 *   admit(address: string, params: Params, nowMs: number):
 *     { readonly decision: string, readonly retryAfterMs?: number, readonly permit?: unknown },
 *   settle(permit: unknown, outcome: Outcome, params: Params, nowMs: number): void,
 *   view(address: string, params: Params, nowMs: number): object,
 *   tracked(): number,
 *   sweep(params: Params, nowMs: number): number,
 * }} AllCircuits
 */

/** What vectors do not name. */
const NO_EXTRAS = {
  cooldownFactor: 1,
  maxCooldownMs: 1,
  jitter: 0,
  probesToClose: 1,
  failureRate: 0,
  windowMs: 10_000,
  minimumCalls: 20,
};

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'breaker'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function circuitBreakerSuite({ breaker }) {
  /** @type {[string, (params: Params) => AllCircuits][]} */
  const kinds = [
    ['pure', () => new PureCircuits(breaker)],
    ['arena', ({ maxAddresses }) => new ArenaCircuits(breaker, maxAddresses)],
  ];
  return {
    ops: ['admit', 'settle', 'configure', 'state', 'tracked', 'sweep'],
    backends: kinds.map(([name, open]) => ({
      name,
      create(given) {
        let params = /** @type {Params} */ ({ ...NO_EXTRAS, ...given });
        const circuits = open(params);
        /** @type {Map<string, unknown>} */
        const permits = new Map();
        return {
          admit(inputs) {
            const { at, address, as } = typed(inputs);
            const { permit, ...result } = circuits.admit(address, params, at);
            if (as !== undefined && permit !== undefined) permits.set(as, permit);
            return result;
          },
          settle(inputs) {
            const { at, permit, outcome } = typed(inputs);
            if (!permits.has(permit)) throw new Error(`there is no permit ${permit}`);
            circuits.settle(permits.get(permit), outcome, params, at);
          },
          configure(inputs) {
            const { at: _at, op: _op, ...changes } = typed({ op: '', ...inputs });
            params = { ...params, ...changes };
          },
          state(inputs) {
            const { at, address } = typed(inputs);
            return circuits.view(address, params, at);
          },
          tracked: () => ({ count: circuits.tracked() }),
          sweep: (inputs) => ({ removed: circuits.sweep(params, typed(inputs).at) }),
        };
      },
    })),
  };
}

/** @param {Readonly<Record<string, unknown>>} inputs */
function typed(inputs) {
  return /** @type {Inputs & { readonly op: string }} */ (/** @type {unknown} */ (inputs));
}
