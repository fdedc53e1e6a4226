/**
 * @typedef {{ readonly at: number, readonly bucket: string, readonly value: number, readonly buckets: readonly string[] }} Inputs
 */

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'ThrottleWindows'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function clientThrottleSuite({ ThrottleWindows }) {
  return {
    ops: ['pressure', 'throttled', 'metadata', 'tracked'],
    backends: [
      {
        name: 'windows',
        create(params) {
          const windows = new ThrottleWindows(/** @type {number} */ (params.maxThrottleMs));
          return {
            pressure(inputs) {
              const { at, bucket, value } = typed(inputs);
              windows.signal(bucket, value, at);
            },
            throttled(inputs) {
              const { at, bucket } = typed(inputs);
              const remainingMs = windows.remainingMs(bucket, at);
              return { throttled: remainingMs > 0, remainingMs };
            },
            metadata(inputs) {
              windows.keepOnly(typed(inputs).buckets);
            },
            tracked: () => ({ count: windows.tracked }),
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
