// What the suites test, from the built package.

/**
 * The parts of Spillway that have vectors.
 *
 * @typedef {{
 *   readonly stateMachine: typeof import('../src/actors/throttle/state-machine.js'),
 *   readonly coordinator: typeof import('../src/actors/throttle/coordinator.js'),
 *   readonly QpsRegistry: typeof import('../src/actors/throttle/qps-registry.js').QpsRegistry,
 *   readonly startControlPlane: typeof import('../src/actors/control-plane.js').startControlPlane,
 *   readonly createActorSystem: typeof import('../src/actors/core/actor-system.js').createActorSystem,
 *   readonly VirtualTime: typeof import('../src/testing/virtual-time.js').VirtualTime,
 *   readonly createArena: typeof import('../src/shared/arena.js').createArena,
 *   readonly TokenBucket: typeof import('../src/shared/token-bucket.js').TokenBucket,
 *   readonly StrictLimiter: typeof import('../src/shared/strict-limiter.js').StrictLimiter,
 *   readonly breaker: BreakerParts,
 *   readonly pressureGauge: typeof import('../src/shared/pressure/pressure-gauge.js'),
 *   readonly flushBudget: typeof import('../src/shared/pressure/flush-budget.js'),
 *   readonly ThrottleWindows: typeof import('../src/shared/pressure/throttle-windows.js').ThrottleWindows,
 *   readonly windows: WindowParts,
 *   readonly PreWriteBuffer: typeof import('../src/actors/kv/pre-write-buffer.js').PreWriteBuffer,
 *   readonly flushMachine: typeof import('../src/actors/kv/flush-machine.js'),
 * }} Subject
 */

/**
 * @typedef {typeof import('../src/shared/breaker/admit-call.js')
 *   & typeof import('../src/shared/breaker/circuit-keeper.js')
 *   & typeof import('../src/shared/breaker/circuit-memory.js')
 *   & typeof import('../src/shared/breaker/circuit-state.js')
 *   & typeof import('../src/shared/breaker/circuit-view.js')
 *   & typeof import('../src/shared/breaker/circuits.js')
 *   & typeof import('../src/shared/breaker/retention.js')
 *   & typeof import('../src/shared/breaker/settle-permit.js')
 *   & typeof import('../src/shared/directory-keeper.js')} BreakerParts
 */

/**
 * @typedef {typeof import('../src/shared/directory-keeper.js')
 *   & typeof import('../src/shared/key-directory.js')
 *   & typeof import('../src/shared/pressure/pressure-windows.js')
 *   & typeof import('../src/shared/pressure/throttle-windows.js')
 *   & typeof import('../src/shared/pressure/window-keeper.js')} WindowParts
 */

/** @returns {Promise<Subject>} */
export async function loadBuilt() {
  const load = (/** @type {string} */ path) =>
    import(new URL(`../dist/${path}`, import.meta.url).href);
  return {
    stateMachine: await load('actors/throttle/state-machine.js'),
    coordinator: await load('actors/throttle/coordinator.js'),
    QpsRegistry: (await load('actors/throttle/qps-registry.js')).QpsRegistry,
    startControlPlane: (await load('actors/control-plane.js')).startControlPlane,
    createActorSystem: (await load('actors/core/actor-system.js')).createActorSystem,
    VirtualTime: (await load('testing/virtual-time.js')).VirtualTime,
    createArena: (await load('shared/arena.js')).createArena,
    TokenBucket: (await load('shared/token-bucket.js')).TokenBucket,
    StrictLimiter: (await load('shared/strict-limiter.js')).StrictLimiter,
    breaker: Object.assign(
      {},
      await load('shared/breaker/admit-call.js'),
      await load('shared/breaker/circuit-keeper.js'),
      await load('shared/breaker/circuit-memory.js'),
      await load('shared/breaker/circuit-state.js'),
      await load('shared/breaker/circuit-view.js'),
      await load('shared/breaker/circuits.js'),
      await load('shared/breaker/retention.js'),
      await load('shared/breaker/settle-permit.js'),
      await load('shared/directory-keeper.js'),
    ),
    pressureGauge: await load('shared/pressure/pressure-gauge.js'),
    flushBudget: await load('shared/pressure/flush-budget.js'),
    ThrottleWindows: (await load('shared/pressure/throttle-windows.js')).ThrottleWindows,
    windows: Object.assign(
      {},
      await load('shared/directory-keeper.js'),
      await load('shared/key-directory.js'),
      await load('shared/pressure/pressure-windows.js'),
      await load('shared/pressure/throttle-windows.js'),
      await load('shared/pressure/window-keeper.js'),
    ),
    PreWriteBuffer: (await load('actors/kv/pre-write-buffer.js')).PreWriteBuffer,
    flushMachine: await load('actors/kv/flush-machine.js'),
  };
}
