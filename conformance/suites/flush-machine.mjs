/**
 * @typedef {import('../../src/actors/kv/flush-machine.js').FlushParams} Params
 */

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'flushMachine'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function flushMachineSuite({ flushMachine }) {
  return {
    ops: ['request', 'claim', 'progress', 'finish', 'blocked', 'retry', 'fail', 'close', 'state'],
    backends: [
      {
        name: 'pure',
        create(given) {
          const params = /** @type {Params} */ (/** @type {unknown} */ (given));
          let state = flushMachine.idleFlush();
          return {
            request({ upTo }) {
              state = flushMachine.requestFlush(state, /** @type {number} */ (upTo));
            },
            claim() {
              const outcome = flushMachine.claimFlush(state);
              state = outcome.state;
              return { claimed: outcome.claimed };
            },
            progress({ flushedUpTo }) {
              state = flushMachine.progressFlush(state, /** @type {number} */ (flushedUpTo));
            },
            finish({ flushedUpTo }) {
              state = flushMachine.finishFlush(state, /** @type {number} */ (flushedUpTo));
            },
            blocked() {
              const outcome = flushMachine.blockFlush(state, params);
              state = outcome.state;
              return { retryInMs: outcome.retryInMs ?? null };
            },
            retry() {
              state = flushMachine.retryFlush(state);
            },
            fail() {
              state = flushMachine.failFlush(state);
            },
            close() {
              state = flushMachine.closeFlush(state);
            },
            state() {
              const { phase, requested, flushed, enqueued } = state;
              return { state: phase, requested, flushed, enqueued };
            },
          };
        },
      },
    ],
  };
}
