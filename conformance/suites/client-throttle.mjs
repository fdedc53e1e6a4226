import { ArenaWindows } from './arena-windows.mjs';

/**
 * @typedef {{ readonly at: number, readonly bucket: string, readonly value: number, readonly buckets: readonly string[] }} Inputs
 */

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'ThrottleWindows' | 'windows'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function clientThrottleSuite({ ThrottleWindows, windows }) {
  return {
    ops: ['pressure', 'throttled', 'metadata', 'tracked'],
    backends: [
      backend('windows', (maxThrottleMs) => new ThrottleWindows(maxThrottleMs)),
      backend('arena', (maxThrottleMs) => new ArenaWindows(windows, maxThrottleMs)),
    ],
  };
}

/**
 * @param {string} name
 * @param {(maxThrottleMs: number) => Pick<ArenaWindows, 'signal' | 'remainingMs' | 'keepOnly' | 'tracked'>} make
 * @returns {import('../runner/run-file.mjs').Suite['backends'][number]}
 */
function backend(name, make) {
  return {
    name,
    create(params) {
      const client = make(/** @type {number} */ (params.maxThrottleMs));
      return {
        pressure(inputs) {
          const { at, bucket, value } = typed(inputs);
          client.signal(bucket, value, at);
        },
        throttled(inputs) {
          const { at, bucket } = typed(inputs);
          const remainingMs = client.remainingMs(bucket, at);
          return { throttled: remainingMs > 0, remainingMs };
        },
        metadata(inputs) {
          client.keepOnly(typed(inputs).buckets);
        },
        tracked: () => ({ count: client.tracked }),
      };
    },
  };
}

/** @param {Readonly<Record<string, unknown>>} inputs */
function typed(inputs) {
  return /** @type {Inputs} */ (/** @type {unknown} */ (inputs));
}
