// Entry of the piscina threads: each drives its share of the load against the metadata service.
import { setTimeout as sleep } from 'node:timers/promises';
import type { RuntimeHandle } from 'spillway';
import { type Arrival, planArrivals } from '../load/arrivals.js';
import { createRandom, type Random } from '../load/random.js';
import { CountBoard } from '../run/count-board.js';
import { StartSignal } from '../run/start-signal.js';
import { type RpcName, rpcNames, type Scenario } from '../scenario.js';
import { type Admission, type AdmissionPoint, admitAtOnce, isHeldBack } from './admission.js';
import { isBusy, isRetriable, isUnanswered, MetadataClient } from './metadata-client.js';
import { callWithRetries } from './retry.js';

export interface DriveLoadTask {
  readonly scenario: Scenario;
  readonly threadIndex: number;
  readonly address: string;
  readonly counts: SharedArrayBuffer;
  readonly start: SharedArrayBuffer;
  /** The runtime to attach to; without one, attempts go at once. */
  readonly handle: RuntimeHandle | undefined;
}

/** From arrival to final answer, retries and waits included, good or bad; shed calls have none. */
export interface DriveLoadResult {
  readonly coldLatenciesMs: readonly number[];
  readonly hotLatenciesMs: readonly number[];
}

export async function driveLoad(task: DriveLoadTask): Promise<DriveLoadResult> {
  // Thousands of BUSY replies a second would each pay for a stack trace that nobody reads.
  Error.stackTraceLimit = 0;
  const client = new MetadataClient(task.address, task.scenario.attemptTimeoutMs);
  const point = await openAdmission(task);
  try {
    await client.connect();
    return await new LoadDriver(task, client, point.admit).run();
  } finally {
    point.close();
    client.close();
  }
}

/** The run without Spillway does not even load it. */
async function openAdmission({ handle, scenario }: DriveLoadTask): Promise<AdmissionPoint> {
  if (handle === undefined) return { admit: admitAtOnce, close: () => undefined };
  const { openGateAdmission } = await import('./gate-admission.js');
  return openGateAdmission(handle, scenario.maxWaitMs);
}

class LoadDriver {
  readonly #scenario: Scenario;
  readonly #client: MetadataClient;
  readonly #admit: Admission;
  readonly #counts: CountBoard;
  readonly #start: StartSignal;
  readonly #arrivals: Iterator<Arrival, void, undefined>;
  readonly #random: Random;
  readonly #calls = new Set<Promise<void>>();
  readonly #coldLatenciesMs: number[] = [];
  readonly #hotLatenciesMs: number[] = [];

  constructor(task: DriveLoadTask, client: MetadataClient, admit: Admission) {
    const { scenario, threadIndex } = task;
    this.#scenario = scenario;
    this.#client = client;
    this.#admit = admit;
    this.#counts = new CountBoard(task.counts, rpcNames.length);
    this.#start = new StartSignal(task.start);
    // Two sources, so that how often calls are retried does not change the load.
    this.#arrivals = planArrivals(
      scenario.phases,
      1 / scenario.threads,
      rpcNames.length,
      createRandom(scenario.seed + threadIndex),
    );
    this.#random = createRandom(~(scenario.seed + threadIndex));
  }

  async run(): Promise<DriveLoadResult> {
    this.#start.markReady();
    while (this.#start.startNs === 0n) await sleep(5);
    let next = this.#arrivals.next();
    while (next.done !== true) {
      const nowMs = this.#nowMs();
      while (next.done !== true && next.value.atMs <= nowMs) {
        this.#begin(next.value);
        next = this.#arrivals.next();
      }
      if (next.done !== true) await sleep(Math.max(1, next.value.atMs - this.#nowMs()));
    }
    await Promise.all(this.#calls);
    return { coldLatenciesMs: this.#coldLatenciesMs, hotLatenciesMs: this.#hotLatenciesMs };
  }

  /** Since the start of the load; negative before it. */
  #nowMs(): number {
    return Number(process.hrtime.bigint() - this.#start.startNs) / 1e6;
  }

  #begin(arrival: Arrival): void {
    const { tableIndex, rpcIndex } = arrival;
    this.#counts.add('arrived', tableIndex, rpcIndex);
    if (this.#calls.size >= this.#scenario.maxInFlightPerThread) {
      this.#counts.add('shed', tableIndex, rpcIndex);
      this.#counts.add('failed', tableIndex, rpcIndex);
      return;
    }
    const call = this.#call(arrival).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  async #call({ atMs, tableIndex, rpcIndex }: Arrival): Promise<void> {
    const rpc = rpcNames[rpcIndex] as RpcName;
    const table = this.#scenario.tableIds[tableIndex] as string;
    try {
      await callWithRetries(
        this.#scenario.retry,
        { random: this.#random, sleep: (delayMs) => sleep(delayMs), isRetriable },
        () => this.#admit({ rpc, table }, () => this.#attempt(rpc, table, tableIndex, rpcIndex)),
      );
      this.#counts.add('ok', tableIndex, rpcIndex);
    } catch (error) {
      if (isHeldBack(error)) this.#counts.add('heldBack', tableIndex, rpcIndex);
      else if (!isBusy(error) && !isUnanswered(error)) throw error;
      this.#counts.add('failed', tableIndex, rpcIndex);
    }
    const latencies =
      tableIndex < this.#scenario.hotTables ? this.#hotLatenciesMs : this.#coldLatenciesMs;
    latencies.push(this.#nowMs() - atMs);
  }

  async #attempt(rpc: RpcName, table: string, tableIndex: number, rpcIndex: number): Promise<void> {
    this.#counts.add('sent', tableIndex, rpcIndex);
    try {
      await this.#client.call(rpc, table);
    } catch (error) {
      if (isBusy(error)) this.#counts.add('busy', tableIndex, rpcIndex);
      else if (isUnanswered(error)) this.#counts.add('unanswered', tableIndex, rpcIndex);
      throw error;
    }
  }
}
