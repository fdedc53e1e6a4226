// Entry of the writer threads: each drives its share of the load, open loop, through a writer of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createKvWriter, type KvWriter } from 'spillway/kv/client';
import { createRandom, type Random } from '../load/random.js';
import { duePuts, isHot, type KvScenario } from './kv-scenario.js';
import { type LedgerPage, PutLedger } from './put-ledger.js';
import { VersionedValues } from './versioned-values.js';
import { WriteBoard } from './write-board.js';

export interface WriteTask {
  readonly scenario: KvScenario;
  readonly threadIndex: number;
  readonly address: string;
  readonly ignorePressure: boolean;
  readonly board: SharedArrayBuffer;
}

export interface WriteResult {
  /** Puts that the load had for hot buckets; of these: shed because too many were not acknowledged yet. */
  readonly hotOffered: number;
  readonly hotShed: number;
  /** Of these: that ended, one way or the other. */
  readonly hotSettled: number;
  /** Acknowledged while the load ran. */
  readonly hotAcknowledged: number;
  readonly calmOffered: number;
  /** Puts that ended with an error; the first one's message. */
  readonly failed: number;
  readonly failure: string | undefined;
  /** Of puts into calm buckets: when they began, ms since the load did, and how long they took. */
  readonly calmAtMs: readonly number[];
  readonly calmTookMs: readonly number[];
  readonly pages: readonly LedgerPage[];
}

/** How often a thread looks what has arrived. */
const tickMs = 2;

class Writing {
  readonly #task: WriteTask;
  readonly #writer: KvWriter;
  readonly #board: WriteBoard;
  readonly #values: VersionedValues;
  readonly #random: Random;
  readonly #ledgers: readonly PutLedger[];
  readonly #inFlight: number[];
  readonly #calmAtMs: number[] = [];
  readonly #calmTookMs: number[] = [];
  #hotOffered = 0;
  #hotShed = 0;
  #hotSettled = 0;
  #hotAcknowledged = 0;
  #calmOffered = 0;
  #failed = 0;
  #failure: string | undefined;

  constructor(task: WriteTask, writer: KvWriter) {
    const { scenario, threadIndex } = task;
    this.#task = task;
    this.#writer = writer;
    this.#board = new WriteBoard(task.board);
    this.#values = new VersionedValues(scenario.seed, threadIndex);
    this.#random = createRandom(scenario.seed + threadIndex);
    this.#ledgers = Array.from({ length: scenario.buckets }, (_, bucket) => new PutLedger(bucket));
    this.#inFlight = Array.from({ length: scenario.buckets }, () => 0);
  }

  async run(): Promise<WriteResult> {
    const { scenario, threadIndex } = this.#task;
    const { durationMs, buckets } = scenario;
    this.#board.markReady();
    while (this.#board.startNs === 0n) await sleep(tickMs);
    const made = Array.from({ length: buckets }, () => 0);
    for (;;) {
      const nowMs = Math.min(Math.max(0, this.#nowMs()), durationMs);
      for (const [bucket, before] of made.entries()) {
        const due = duePuts(scenario, threadIndex, bucket, nowMs);
        for (let i = before; i < due; i += 1) this.#offer(bucket);
        made[bucket] = due;
      }
      if (nowMs >= durationMs) break;
      await sleep(tickMs);
    }
    await this.#writer.flush();
    await this.#writer.close();
    return {
      hotOffered: this.#hotOffered,
      hotShed: this.#hotShed,
      hotSettled: this.#hotSettled,
      hotAcknowledged: this.#hotAcknowledged,
      calmOffered: this.#calmOffered,
      failed: this.#failed,
      failure: this.#failure,
      calmAtMs: this.#calmAtMs,
      calmTookMs: this.#calmTookMs,
      pages: this.#ledgers.map((ledger) => ledger.page()),
    };
  }

  #offer(bucket: number): void {
    const { scenario } = this.#task;
    const hot = isHot(scenario, bucket);
    const id = Math.floor(this.#random() * (hot ? scenario.hotKeys : scenario.calmKeys));
    if (hot) {
      this.#hotOffered += 1;
      if ((this.#inFlight[bucket] ?? 0) >= scenario.hotInFlight) {
        this.#hotShed += 1;
        return;
      }
    } else this.#calmOffered += 1;
    void this.#put(bucket, id, hot);
  }

  async #put(bucket: number, id: number, hot: boolean): Promise<void> {
    const { scenario } = this.#task;
    const ledger = this.#ledgers[bucket] as PutLedger;
    const version = ledger.send(id);
    const bytes = hot ? scenario.hotValueBytes : scenario.calmValueBytes;
    const value = this.#values.value(id, version, bytes);
    const atMs = this.#nowMs();
    this.#inFlight[bucket] = (this.#inFlight[bucket] ?? 0) + 1;
    try {
      await this.#writer.put(scenario.table, this.#values.key(id), value, { bucket });
      ledger.acknowledge(id, version);
      const endMs = this.#nowMs();
      if (!hot) {
        this.#calmAtMs.push(atMs);
        this.#calmTookMs.push(endMs - atMs);
      } else if (endMs <= scenario.durationMs) this.#hotAcknowledged += 1;
      this.#board.acknowledge(hot ? 'hot' : 'calm');
    } catch (error) {
      this.#failed += 1;
      this.#failure ??= String(error);
    } finally {
      if (hot) this.#hotSettled += 1;
      this.#inFlight[bucket] = (this.#inFlight[bucket] ?? 0) - 1;
    }
  }

  /** Since the start of the load; negative before it. */
  #nowMs(): number {
    return Number(process.hrtime.bigint() - this.#board.startNs) / 1e6;
  }
}

if (parentPort !== null) {
  const task = workerData as WriteTask;
  const { maxThrottleMs, ...client } = task.scenario.client;
  const writer = await createKvWriter({
    target: task.address,
    ...client,
    pressure: { maxThrottleMs },
    ignorePressure: task.ignorePressure,
  });
  parentPort.postMessage(await new Writing(task, writer).run());
}
