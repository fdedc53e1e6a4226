import { limiterArenas, strictPlace } from './limiter-arenas.mjs';

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'createArena' | 'StrictLimiter'>} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function strictLimiterSuite(subject) {
  return {
    ops: ['reserve', 'update', 'qps'],
    backends: limiterArenas(subject, 16).map(({ name, fresh }) => ({
      name,
      create(params) {
        const arena = fresh();
        const { qps } = /** @type {{ qps: number }} */ (params);
        const limiter = new subject.StrictLimiter(arena.kernel, strictPlace(arena, 0), qps);
        return {
          reserve: ({ at }) => ({
            allowedAt: limiter.reserve(/** @type {number} */ (at) * 1e6) / 1e6,
          }),
          update({ at, qps: rate, resetReservation = false }) {
            limiter.configure(
              /** @type {number} */ (rate),
              /** @type {number} */ (at) * 1e6,
              /** @type {boolean} */ (resetReservation),
            );
          },
          qps: () => ({ qps: limiter.qps }),
        };
      },
    })),
  };
}
