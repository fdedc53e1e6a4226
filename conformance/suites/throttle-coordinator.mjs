/**
 * @typedef {import('../../src/actors/throttle/coordinator.js').CoordinatorParams} Params
 */

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'coordinator'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function coordinatorSuite({ coordinator }) {
  return {
    ops: ['busy', 'tick', 'setPendingUpgrades', 'updateParams', 'state'],
    backends: [
      {
        name: 'pure',
        create(given) {
          let params = /** @type {Params} */ (/** @type {unknown} */ (given));
          let state = coordinator.INITIAL_COORDINATOR;
          return {
            busy() {
              const outcome = coordinator.busy(state, params);
              state = outcome.state;
              return { upgrade: outcome.upgrade };
            },
            tick({ n = 1 }) {
              const outcome = coordinator.tick(state, params, /** @type {number} */ (n));
              state = outcome.state;
              return { downgrade: outcome.downgrade };
            },
            setPendingUpgrades({ value }) {
              state = coordinator.setPendingUpgrades(state, /** @type {boolean} */ (value));
            },
            updateParams(inputs) {
              params = /** @type {Params} */ (inputs.params);
            },
            state: () => state,
          };
        },
      },
    ],
  };
}
