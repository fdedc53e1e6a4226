import {
  type ActorSystem,
  type ActorSystemOptions,
  createActorSystem,
} from '../actors/core/actor-system.js';
import { Probe } from './probe.js';
import { VirtualTime } from './virtual-time.js';

export interface TestSystem {
  readonly system: ActorSystem;
  readonly time: VirtualTime;
  /** An actor for the test to play. */
  probe<Message>(name?: string): Probe<Message>;
}

/** A whole actor system under virtual time. */
export function createTestSystem(
  options: Omit<ActorSystemOptions, 'clock' | 'schedule' | 'timerDriver'> & {
    /** Default: a new one that begins at 0. Several systems may share one. */
    readonly time?: VirtualTime;
  } = {},
): TestSystem {
  const { time = new VirtualTime(), ...rest } = options;
  const system = createActorSystem({
    ...rest,
    clock: time.clock,
    schedule: time.schedule,
    timerDriver: time.createTimerDriver(),
  });
  return {
    system,
    time,
    probe: <Message>(name?: string) => new Probe<Message>(system, time, name),
  };
}
