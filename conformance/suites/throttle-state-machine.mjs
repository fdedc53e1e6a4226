/**
 * @typedef {import('../../src/actors/throttle/state-machine.js').UpgradeParams} Params
 * @typedef {import('../../src/actors/throttle/state-machine.js').Transition} Transition
 * @typedef {import('../../src/actors/throttle/limit-action.js').PairKey} PairKey
 * @typedef {import('../../src/actors/throttle/limit-action.js').PairRate} PairRate
 */

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'stateMachine'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function stateMachineSuite({ stateMachine }) {
  return {
    ops: ['upgrade', 'downgrade', 'updateParams', 'params', 'limit', 'level'],
    backends: [
      {
        name: 'pure',
        create(given) {
          let params = /** @type {Params} */ (/** @type {unknown} */ (given));
          let state = stateMachine.NO_LEVELS;
          /** @param {Transition} transition */
          const take = (transition) => {
            state = transition.state;
            return { actions: transition.actions, level: state.history.length };
          };
          return {
            upgrade: ({ snapshot }) =>
              take(stateMachine.upgrade(state, /** @type {PairRate[]} */ (snapshot), params)),
            downgrade: () => take(stateMachine.downgrade(state)),
            updateParams(inputs) {
              params = /** @type {Params} */ (inputs.params);
            },
            params: () => params,
            limit(inputs) {
              const { rpc, table } = /** @type {PairKey} */ (/** @type {unknown} */ (inputs));
              const limit = [...state.limits.values()].find(
                (one) => one.rpc === rpc && one.table === table,
              );
              return { qpsLimit: limit?.qpsLimit ?? 0 };
            },
            level: () => ({ level: state.history.length }),
          };
        },
      },
    ],
  };
}
