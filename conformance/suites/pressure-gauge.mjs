/**
 * @typedef {import('../../src/shared/pressure/level-zero-triggers.js').LevelZeroTriggers & { readonly slowdownTrigger: number }} Params
 * @typedef {{ readonly l0: number, readonly pendingBytes: number, readonly rejected?: boolean }} Inputs
 */

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'pressureGauge' | 'flushBudget'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function pressureGaugeSuite({ pressureGauge, flushBudget }) {
  return {
    ops: ['pressure', 'wouldExceedFlushBudget'],
    backends: [
      {
        name: 'pure',
        create(given) {
          const params = /** @type {Params} */ (/** @type {unknown} */ (given));
          return {
            pressure(inputs) {
              const { l0, rejected = false } = typed(inputs);
              return { pressure: pressureGauge.gaugePressure(params, l0, rejected) };
            },
            wouldExceedFlushBudget(inputs) {
              const { l0, pendingBytes, rejected = false } = typed(inputs);
              return {
                exceeds: flushBudget.wouldExceedFlushBudget(params, l0, pendingBytes, rejected),
              };
            },
          };
        },
      },
    ],
  };
}

/** @param {Readonly<Record<string, unknown>>} inputs */
function typed(inputs) {
  return /** @type {Inputs} */ (/** @type {unknown} */ (inputs));
}
