import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../../src/actors/control-plane.js';
import type { ActorFailure } from '../../src/actors/core/actor-failure.js';
import type { UpgradeRecord } from '../../src/actors/throttle/state-machine.js';
import type { ThrottleConfig } from '../../src/actors/throttle/throttle-config.js';
import type { ThrottleEvent } from '../../src/actors/throttle/throttle-event.js';
import { createTestSystem, type TestSystem } from '../../src/testing/test-system.js';
import { MemoryLimits } from './throttle/memory-limits.js';
import { MemoryPairs } from './throttle/memory-pairs.js';

export const CONFIG: ThrottleConfig = Object.freeze({
  enabled: true,
  dryRun: false,
  windowMs: 1000,
  upgradeIntervalMs: 2000,
  downgradeIntervalMs: 3000,
  topK: 2,
  ratio: 0.5,
  floorQps: 1,
  rpcs: Object.freeze(['a', 'b']),
});

export interface PlaneUnderTest extends TestSystem {
  readonly plane: ControlPlane;
  readonly pairs: MemoryPairs;
  readonly limits: MemoryLimits;
  readonly events: ThrottleEvent[];
  readonly histories: (readonly UpgradeRecord[])[];
  readonly fatal: ActorFailure[];
  /** Lets time pass with the given calls per second on each pair, `rpc/table`. */
  load(toMs: number, rates: Readonly<Record<string, number>>): void;
  busy(count?: number): void;
}

/** The whole control plane under virtual time, with pairs and limits in memory. */
export function startPlane(
  options: Partial<ControlPlaneOptions> & {
    readonly pairs?: MemoryPairs;
    readonly limits?: MemoryLimits;
  } = {},
): PlaneUnderTest {
  const fatal: ActorFailure[] = [];
  const test = createTestSystem({ onFatal: (failure) => fatal.push(failure) });
  const { pairs = new MemoryPairs(), limits = new MemoryLimits(), ...rest } = options;
  const events: ThrottleEvent[] = [];
  const histories: (readonly UpgradeRecord[])[] = [];
  const plane = startControlPlane({
    system: test.system,
    source: pairs,
    limits,
    config: CONFIG,
    onEvent: (event) => events.push(event),
    onHistory: (history) => histories.push(history),
    ...rest,
  });
  const { time } = test;
  time.settle();
  return {
    ...test,
    plane,
    pairs,
    limits,
    events,
    histories,
    fatal,
    load(toMs, rates) {
      while (time.nowMs < toMs) {
        for (const [name, qps] of Object.entries(rates)) {
          const [rpc = '', table = ''] = name.split('/');
          pairs.add(rpc, table, qps / 10);
        }
        time.advanceBy(100);
      }
    },
    busy(count = 1) {
      plane.busy(count);
      time.settle();
    },
  };
}
