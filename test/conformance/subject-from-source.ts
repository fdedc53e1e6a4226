import type { Subject } from '../../conformance/load-built.mjs';
import { startControlPlane } from '../../src/actors/control-plane.js';
import { createActorSystem } from '../../src/actors/core/actor-system.js';
import * as flushMachine from '../../src/actors/kv/flush-machine.js';
import { PreWriteBuffer } from '../../src/actors/kv/pre-write-buffer.js';
import * as coordinator from '../../src/actors/throttle/coordinator.js';
import { QpsRegistry } from '../../src/actors/throttle/qps-registry.js';
import * as stateMachine from '../../src/actors/throttle/state-machine.js';
import { createArena } from '../../src/shared/arena.js';
import * as admitCall from '../../src/shared/breaker/admit-call.js';
import * as circuitKeeper from '../../src/shared/breaker/circuit-keeper.js';
import * as circuitMemory from '../../src/shared/breaker/circuit-memory.js';
import * as circuitState from '../../src/shared/breaker/circuit-state.js';
import * as circuitView from '../../src/shared/breaker/circuit-view.js';
import * as circuits from '../../src/shared/breaker/circuits.js';
import * as retention from '../../src/shared/breaker/retention.js';
import * as settlePermit from '../../src/shared/breaker/settle-permit.js';
import * as directoryKeeper from '../../src/shared/directory-keeper.js';
import * as keyDirectory from '../../src/shared/key-directory.js';
import * as flushBudget from '../../src/shared/pressure/flush-budget.js';
import * as pressureGauge from '../../src/shared/pressure/pressure-gauge.js';
import * as pressureWindows from '../../src/shared/pressure/pressure-windows.js';
import * as throttleWindows from '../../src/shared/pressure/throttle-windows.js';
import * as windowKeeper from '../../src/shared/pressure/window-keeper.js';
import { StrictLimiter } from '../../src/shared/strict-limiter.js';
import { TokenBucket } from '../../src/shared/token-bucket.js';
import { VirtualTime } from '../../src/testing/virtual-time.js';

/** What the suites test, from the sources instead of the built package. */
export const subjectFromSource: Subject = {
  stateMachine,
  coordinator,
  QpsRegistry,
  startControlPlane,
  createActorSystem,
  VirtualTime,
  createArena,
  TokenBucket,
  StrictLimiter,
  breaker: {
    ...admitCall,
    ...circuitKeeper,
    ...circuitMemory,
    ...circuitState,
    ...circuitView,
    ...circuits,
    ...retention,
    ...settlePermit,
    ...directoryKeeper,
  },
  pressureGauge,
  flushBudget,
  ThrottleWindows: throttleWindows.ThrottleWindows,
  windows: {
    ...directoryKeeper,
    ...keyDirectory,
    ...pressureWindows,
    ...throttleWindows,
    ...windowKeeper,
  },
  PreWriteBuffer,
  flushMachine,
};
