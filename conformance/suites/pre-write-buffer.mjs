/**
 * @typedef {import('../../src/actors/kv/flush-segment.js').SegmentLimits} SegmentLimits
 * @typedef {{ readonly key: string, readonly value: string | null, readonly lsn: number,
 *   readonly change: import('../../src/actors/kv/flush-segment.js').RowChange, readonly upTo: number,
 *   readonly segments?: number | null,
 *   readonly reason: import('../../src/actors/kv/pre-write-buffer.js').TruncateReason }} Inputs
 */

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'PreWriteBuffer'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function preWriteBufferSuite({ PreWriteBuffer }) {
  return {
    ops: ['put', 'get', 'prepare', 'split', 'complete', 'abort', 'truncate', 'state'],
    backends: [
      {
        name: 'buffer',
        create() {
          const buffer = new PreWriteBuffer({
            /** @param {string} key @param {string | null} value */
            bytesOf: (key, value) => Buffer.byteLength(key) + Buffer.byteLength(value ?? ''),
          });
          return {
            put(inputs) {
              const { key, value, lsn, change } = typed(inputs);
              buffer.put(key, value ?? null, lsn, change);
            },
            get(inputs) {
              const value = buffer.get(typed(inputs).key);
              return value === undefined ? { found: false } : { found: true, value };
            },
            prepare: (inputs) => buffer.prepare(typed(inputs).upTo),
            split: (inputs) => ({
              segments: buffer.split(
                /** @type {SegmentLimits} */ (/** @type {unknown} */ (inputs)),
              ),
            }),
            complete: (inputs) => buffer.complete(typed(inputs).segments ?? undefined),
            abort: () => buffer.abort(),
            truncate(inputs) {
              const { lsn, reason } = typed(inputs);
              buffer.truncate(lsn, reason);
            },
            state: () => ({
              entries: buffer.entries,
              pendingBytes: buffer.pendingBytes,
              maxLsn: buffer.maxLsn,
            }),
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
