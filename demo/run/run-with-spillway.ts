import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, type Runtime } from 'spillway';
import { rpcNames, type Scenario } from '../scenario.js';
import { LimitWatch } from './limit-watch.js';
import { findReleaseFaults } from './release-order.js';
import { type RunLoadOptions, runLoad } from './run-load.js';
import type { RunRecord, Sample, TimelineEntry } from './run-record.js';

export interface SpillwayRunOptions {
  readonly scenario: Scenario;
  readonly signal: AbortSignal;
  readonly onSample: (sample: Sample, limits: TimelineEntry) => void;
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
  const { scenario, signal } = options;
  const runtime = await startRuntime(scenario);
  const watch = new LimitWatch(() => runtime.snapshot());
  try {
    const loadOptions: RunLoadOptions = {
      scenario,
      handle: runtime.handle(),
      signal,
      onStart: (startNs) => watch.start(startNs),
      onSample: (sample) => options.onSample(sample, watch.look()),
    };
    const record = await runLoad(loadOptions);
    const limitsLeft = await releaseLimits(watch, scenario, signal);
    const { conservation } = runtime.snapshot();
    return {
      record,
      timeline: watch.timeline,
      limitsLeft,
      faults: [
        ...findReleaseFaults(watch.timeline),
        ...(conservation.ok ? [] : [`permits do not add up: ${JSON.stringify(conservation)}`]),
        ...(limitsLeft === 0 ? [] : [`${limitsLeft} limits were left`]),
      ],
    };
  } finally {
    watch.stop();
    await runtime.close();
  }
}

function startRuntime(scenario: Scenario): Promise<Runtime> {
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
  watch: LimitWatch,
  scenario: Scenario,
  signal: AbortSignal,
): Promise<number> {
  let entry = watch.look();
  const deadlineMs = Date.now() + entry.level * scenario.intervalMs + 1000;
  while (entry.limits.length + entry.level > 0 && Date.now() < deadlineMs) {
    await sleep(20, undefined, { signal });
    entry = watch.look();
  }
  return entry.limits.length;
}
