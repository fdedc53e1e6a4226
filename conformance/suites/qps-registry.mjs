import { CountedPairs } from './counted-pairs.mjs';

/**
 * @typedef {{ readonly windowMs: number, readonly sampleMs: number, readonly inactiveMs: number }} Params
 * @typedef {{ readonly at: number, readonly rpc: string, readonly table: string, readonly n?: number, readonly k: number }} Inputs
 */

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'QpsRegistry'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function qpsRegistrySuite({ QpsRegistry }) {
  return {
    ops: ['record', 'qps', 'topK', 'sweep', 'tracked'],
    backends: [
      {
        name: 'pure',
        create(params) {
          const { windowMs, sampleMs, inactiveMs } = /** @type {Params} */ (
            /** @type {unknown} */ (params)
          );
          const pairs = new CountedPairs();
          const { source } = pairs;
          const registry = new QpsRegistry({ capacity: source.capacity, windowMs, sampleMs });
          let sampledMs = 0;
          registry.sample(source, 0);
          /** Samples as time passes. @param {Readonly<Record<string, unknown>>} inputs */
          const pass = (inputs) => {
            const typed = /** @type {Inputs} */ (/** @type {unknown} */ (inputs));
            while (sampledMs + sampleMs <= typed.at) {
              sampledMs += sampleMs;
              registry.sample(source, sampledMs);
            }
            return typed;
          };
          /** @param {string} rpc */
          const rpcId = (rpc) => source.rpcId(rpc) ?? 0;
          return {
            record(inputs) {
              const { rpc, table, n = 1 } = pass(inputs);
              pairs.add(rpc, table, n);
            },
            qps(inputs) {
              const { rpc, table } = pass(inputs);
              const cell = source.locate(rpc, table);
              return { qps: cell === undefined ? 0 : registry.qps(cell) };
            },
            topK(inputs) {
              const { rpc, k } = pass(inputs);
              const hottest = registry.hottest(k, [rpcId(rpc)]);
              return {
                tables: hottest.map(({ cell, qps }) => ({
                  table: source.describe(cell).table,
                  qps,
                })),
              };
            },
            sweep(inputs) {
              const { at } = pass(inputs);
              return { removed: registry.sweep(at, inactiveMs, source.drop) };
            },
            tracked: (inputs) => ({ count: registry.tracked(rpcId(pass(inputs).rpc)) }),
          };
        },
      },
    ],
  };
}
