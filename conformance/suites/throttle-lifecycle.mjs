import { AnnouncedLoads } from './announced-loads.mjs';
import { CountedPairs } from './counted-pairs.mjs';
import { limiterArenas, strictPlace } from './limiter-arenas.mjs';

/**
 * @typedef {import('../../src/actors/throttle/limit-action.js').LimitAction} LimitAction
 * @typedef {import('../../src/shared/strict-limiter.js').StrictLimiter} StrictLimiter
 * @typedef {{ readonly topK: number, readonly ratio: number, readonly floorQps: number,
 *   readonly upgradeCooldownTicks: number, readonly downgradeAfterTicks: number, readonly windowMs: number,
 *   readonly sampleMs: number, readonly inactiveMs: number, readonly enabled: boolean, readonly dryRun: boolean }} Params
 * @typedef {{ readonly at: number, readonly rpc: string, readonly table: string }} Inputs
 */

/** RPC types that vectors may use: all of them are load-related here. */
const RPCS = [
  'prepare_rowset',
  'commit_rowset',
  'update_tmp_rowset',
  'update_packed_file_info',
  'update_delete_bitmap',
];

/** Limits at one time. */
const MAX_LIMITS = 1024;

/**
 * The real actors under virtual time, over counters in memory and strict limiters on the kernel.
 *
 * @param {import('../load-built.mjs').Subject} subject
 * @returns {import('../runner/run-file.mjs').Suite}
 */
export function lifecycleSuite(subject) {
  return {
    ops: ['load', 'busy', 'limits', 'before'],
    backends: limiterArenas(subject, MAX_LIMITS)
      .filter(({ name }) => name === 'twin')
      .map(({ fresh }) => ({
        name: 'actors',
        create: (params) => start(subject, fresh(), params),
      })),
  };
}

/**
 * @param {import('../load-built.mjs').Subject} subject
 * @param {import('../../src/shared/arena.js').Arena} arena
 * @param {Readonly<Record<string, unknown>>} given
 * @returns {import('../runner/run-file.mjs').Operations}
 */
function start(subject, arena, given) {
  const params = /** @type {Params} */ (/** @type {unknown} */ (given));
  const time = new subject.VirtualTime();
  const system = subject.createActorSystem({
    clock: time.clock,
    schedule: time.schedule,
    timerDriver: time.createTimerDriver(),
  });
  /** What an actor failed with: the step that brought it about fails. @type {unknown[]} */
  const failures = [];
  system.failures.subscribe(({ error }) => failures.push(error));
  const loads = new AnnouncedLoads();
  const pairs = new CountedPairs();
  const record = (
    /** @type {string} */ rpc,
    /** @type {string} */ table,
    /** @type {number} */ n,
  ) => pairs.add(rpc, table, n);
  const limiters = createLimiters(subject, arena, () => time.nowMs * 1e6);
  let level = 0;
  let upgrades = 0;
  const plane = subject.startControlPlane({
    system,
    source: {
      ...pairs.source,
      visit(visitor) {
        loads.pass(time.nowMs, record);
        pairs.source.visit(visitor);
      },
    },
    limits: limiters,
    config: {
      enabled: params.enabled,
      dryRun: params.dryRun,
      windowMs: params.windowMs,
      upgradeIntervalMs: params.upgradeCooldownTicks,
      downgradeIntervalMs: params.downgradeAfterTicks,
      topK: params.topK,
      ratio: params.ratio,
      floorQps: params.floorQps,
      rpcs: RPCS,
    },
    sampleMs: params.sampleMs,
    idleMs: params.inactiveMs,
    onEvent(event) {
      level = event.level;
      if (event.kind === 'upgrade') upgrades += 1;
    },
  });
  const settle = () => {
    time.settle();
    if (failures.length > 0) throw failures.shift();
  };
  settle();
  /** Lets time pass up to the step. @param {Readonly<Record<string, unknown>>} inputs */
  const pass = (inputs) => {
    const typed = /** @type {Inputs} */ (/** @type {unknown} */ (inputs));
    time.advanceTo(Math.max(typed.at, time.nowMs));
    settle();
    return typed;
  };
  return {
    load: (inputs) => loads.announce(/** @type {never} */ (inputs)),
    busy(inputs) {
      pass(inputs);
      const before = upgrades;
      plane.busy(1);
      settle();
      return { upgraded: upgrades > before };
    },
    limits(inputs) {
      pass(inputs);
      return { limits: limiters.inForce(), level };
    },
    before(inputs) {
      const { rpc, table } = pass(inputs);
      return { waitMs: params.dryRun ? 0 : limiters.waitMs(rpc, table) };
    },
  };
}

/**
 * @param {Pick<import('../load-built.mjs').Subject, 'StrictLimiter'>} subject
 * @param {import('../../src/shared/arena.js').Arena} arena
 * @param {() => number} nowNs
 */
function createLimiters({ StrictLimiter }, arena, nowNs) {
  /** @type {Map<string, { readonly rpc: string, readonly table: string, readonly limiter: StrictLimiter, readonly place: number }>} */
  const limits = new Map();
  const places = Array.from({ length: MAX_LIMITS }, (_, i) => MAX_LIMITS - 1 - i);
  const idOf = (/** @type {{ rpc: string, table: string }} */ pair) => `${pair.rpc} ${pair.table}`;
  /** @param {LimitAction} action */
  const apply = (action) => {
    const { rpc, table } = action;
    const limit = limits.get(idOf(action));
    if (action.type === 'remove_limit') {
      limits.delete(idOf(action));
      if (limit !== undefined) places.push(limit.place);
    } else if (limit !== undefined) {
      limit.limiter.configure(action.qpsLimit, nowNs(), action.resetReservation);
    } else {
      const place = places.pop();
      if (place === undefined) throw new RangeError('too many limits for this runner');
      const limiter = new StrictLimiter(
        arena.kernel,
        strictPlace(arena, place),
        action.qpsLimit,
        nowNs(),
      );
      limits.set(idOf(action), { rpc, table, limiter, place });
    }
  };
  return {
    apply: (/** @type {readonly LimitAction[]} */ actions) => actions.forEach(apply),
    inForce: () =>
      [...limits.values()].map(({ rpc, table, limiter }) => ({
        rpc,
        table,
        qpsLimit: limiter.qps,
      })),
    /** @param {string} rpc @param {string} table */
    waitMs(rpc, table) {
      const limiter = limits.get(idOf({ rpc, table }))?.limiter;
      return limiter === undefined ? 0 : (limiter.reserve(nowNs()) - nowNs()) / 1e6;
    },
  };
}
