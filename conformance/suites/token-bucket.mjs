import { limiterArenas } from './limiter-arenas.mjs';

/**
 * @typedef {{ readonly at: number, readonly n?: number, readonly maxWaitMs: number, readonly qps: number, readonly burst: number }} Inputs
 */

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'createArena' | 'TokenBucket'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function tokenBucketSuite(subject) {
  return {
    ops: ['reserve', 'tryAcquire', 'acquire', 'refund', 'reset', 'available'],
    backends: limiterArenas(subject, 1).map(({ name, fresh }) => ({
      name,
      create(params) {
        const { kernel, layout } = fresh();
        const { scratch, stats } = layout.thread(0);
        const place = { bucket: layout.bucket(0, false), stats: stats(0, 'host'), scratch };
        const { qps, burst } = typed(params);
        const bucket = new subject.TokenBucket(kernel, place, { qps, burst });
        return {
          reserve(inputs) {
            const { at, n = 1 } = typed(inputs);
            return { waitMs: bucket.reserve(at * 1e6, n) / 1e6 };
          },
          tryAcquire(inputs) {
            const { at, n = 1 } = typed(inputs);
            return { ok: bucket.tryAcquire(at * 1e6, n) };
          },
          acquire(inputs) {
            const { at, n = 1, maxWaitMs } = typed(inputs);
            return { ok: true, waitMs: bucket.acquire(at * 1e6, n, maxWaitMs * 1e6) / 1e6 };
          },
          refund(inputs) {
            bucket.refund(typed(inputs).n ?? 1);
          },
          reset(inputs) {
            const { at, qps: rate, burst: most } = typed(inputs);
            bucket.reset({ qps: rate, burst: most }, at * 1e6);
          },
          available: (inputs) => ({ tokens: bucket.available(typed(inputs).at * 1e6) }),
        };
      },
    })),
  };
}

/** @param {Readonly<Record<string, unknown>>} inputs */
function typed(inputs) {
  return /** @type {Inputs} */ (/** @type {unknown} */ (inputs));
}
