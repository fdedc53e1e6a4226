import { createVirtualTime, type VirtualTime } from '../../src/testing/virtual-time.js';
import { createSignalHub, type SignalHub } from '../../src/workers/signal-hub.js';

/** What waits need of a thread, on virtual time. */
export interface VirtualHost {
  readonly time: VirtualTime;
  readonly signals: SignalHub;
  nowNs(): number;
  arm(delayMs: number, fire: () => void): () => void;
}

export interface VirtualHostOptions {
  /** How much too early each timer fires, ms; as Node's do, below 1. */
  readonly earlyMs?: number;
}

export function createVirtualHost({ earlyMs = 0 }: VirtualHostOptions = {}): VirtualHost {
  const time = createVirtualTime();
  return {
    time,
    signals: createSignalHub(),
    nowNs: () => time.nowMs * 1e6,
    arm: (delayMs, fire) => time.setTimer(delayMs - earlyMs, fire),
  };
}
