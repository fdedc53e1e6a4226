import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, type Runtime } from 'spillway';
import { rpcNames, type Scenario } from '../scenario.js';
import { LimitTimeline } from './limit-timeline.js';
import { findReleaseFaults } from './release-order.js';
import { runLoad } from './run-load.js';
import type { RunRecord, Sample, TimelineEntry } from './run-record.js';

export interface SpillwayRunOptions {
  readonly scenario: Scenario;
  /** Stays open. */
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
  readonly onSample: (sample: Sample, limits: TimelineEntry | undefined) => void;
}

export interface SpillwayRun {
  readonly record: RunRecord;
  readonly timeline: readonly TimelineEntry[];
  readonly limitsLeft: number;
  /** What was not as it must be: permits that do not add up, levels released out of order. */
  readonly faults: readonly string[];
}

/** Host limits stand far above the capacity, so that the table limits do the work. */
const hostHeadroom = 4;

/** Runs the load with the gate around each attempt, then lets the runtime release every limit. */
export async function runWithSpillway(options: SpillwayRunOptions): Promise<SpillwayRun> {
  const { scenario, runtime, signal } = options;
  const timeline = new LimitTimeline();
  for (const name of ['upgrade', 'downgrade', 'lifted'] as const) {
    runtime.on(name, (change) => timeline.apply(change));
  }
  const record = await runLoad({
    scenario,
    handle: runtime.handle(),
    signal,
    onStart: (leadMs) => timeline.start(runtime.snapshot().atMs + leadMs),
    onSample: (sample) => options.onSample(sample, timeline.newest),
  });
  const limitsLeft = await releaseLimits(runtime, scenario, signal);
  const { conservation } = runtime.snapshot();
  return {
    record,
    timeline: timeline.entries,
    limitsLeft,
    faults: [
      ...findReleaseFaults(timeline.entries),
      ...(conservation.ok ? [] : [`permits do not add up: ${JSON.stringify(conservation)}`]),
      ...(limitsLeft === 0 ? [] : [`${limitsLeft} limits were left`]),
      ...(timeline.newest?.limits.length === limitsLeft ? [] : ['a change of limits was not told']),
    ],
  };
}

export function startRuntime(scenario: Scenario): Promise<Runtime> {
  const qpsPerCore = (hostHeadroom * scenario.capacityPerSecond) / availableParallelism();
  return createRuntime({
    host: { rpcs: Object.fromEntries(rpcNames.map((rpc) => [rpc, { qpsPerCore }])) },
    tables: {
      enabled: true,
      rpcs: [...rpcNames],
      windowMs: scenario.windowMs,
      upgradeIntervalMs: scenario.intervalMs,
      downgradeIntervalMs: scenario.intervalMs,
    },
    waiting: { maxWaitMs: scenario.maxWaitMs, maxWaiters: scenario.maxWaiters },
  });
}

/** The load is over: one level goes per interval. Gives how many limits are left after that time. */
async function releaseLimits(
  runtime: Runtime,
  scenario: Scenario,
  signal: AbortSignal,
): Promise<number> {
  let { level, limits } = runtime.snapshot();
  const deadlineMs = performance.now() + level * scenario.intervalMs + 1000;
  while (level + limits.length > 0 && performance.now() < deadlineMs) {
    await sleep(20, undefined, { signal });
    ({ level, limits } = runtime.snapshot());
  }
  return limits.length;
}
