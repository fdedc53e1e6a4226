import { setTimeout as sleep } from 'node:timers/promises';
import { createKvWriter, type KvWriter } from 'spillway/kv/client';
import { KvStub } from '../kv/kv-stub.js';
import { VersionedValues } from '../kv/versioned-values.js';
import type { Random } from '../load/random.js';
import { BatchGroups, batchKeys } from './batch-groups.js';
import { PutSequence } from './put-sequence.js';

/** Puts of the writer go here, one after the other. */
export const rowsTable = 'rows';
/** Whole batches go here, as they are. */
export const batchesTable = 'batches';
export const bucketCount = 8;

const keysOfBucket = 300;
const groupsOfBucket = 40;
/** Puts of a bucket that are given and not acknowledged. */
const inFlight = 100;
const tickMs = 2;

/** Short and long ones, so that memtables fill and groups of the log differ. */
function bytesOf(number: number): number {
  return 16 + ((number * 7919) % 1200);
}

/** The load: a writer that lives through all kills, and a call after the other of whole batches. */
export class ChaosLoad {
  readonly rows: readonly PutSequence[];
  readonly batches: readonly BatchGroups[];
  readonly #values: VersionedValues;
  readonly #writer: KvWriter;
  readonly #stub: KvStub;
  readonly #random: Random;
  readonly #waiting: number[];
  #isOn = false;
  #isOver = false;
  #failures: string[] = [];
  #work: Promise<unknown> | undefined;

  static async create(address: string, seed: number, random: Random): Promise<ChaosLoad> {
    const writer = await createKvWriter({
      target: address,
      batchBytes: 16 * 1024,
      lingerMs: 1,
      pressure: { maxThrottleMs: 100 },
      retry: { minRetryMs: 20, maxRetryMs: 200 },
      deliveryTimeoutMs: 600_000,
    });
    return new ChaosLoad(writer, new KvStub(address, 5000), seed, random);
  }

  private constructor(writer: KvWriter, stub: KvStub, seed: number, random: Random) {
    const each = Array.from({ length: bucketCount }, (_, bucket) => bucket);
    this.rows = each.map(() => new PutSequence(keysOfBucket));
    this.batches = each.map(() => new BatchGroups(groupsOfBucket));
    this.#values = new VersionedValues(seed, 0);
    this.#writer = writer;
    this.#stub = stub;
    this.#random = random;
    this.#waiting = each.map(() => 0);
  }

  /** Puts that can never be acknowledged, by their message. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  get acknowledged(): number {
    return this.rows.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  }

  start(): void {
    const each = Array.from({ length: bucketCount }, (_, bucket) => bucket);
    this.#work = Promise.all([this.#writeRows(), ...each.map((one) => this.#writeBatches(one))]);
  }

  /** Gives new puts, or none. What was given is retried by the writer all the time. */
  turn(isOn: boolean): void {
    this.#isOn = isOn;
  }

  /** Gives no more and waits until all is acknowledged. */
  async settle(): Promise<void> {
    this.#isOver = true;
    await this.#work;
    await this.#writer.flush();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#writer.close({ deadlineMs: 0 });
    this.#stub.close();
  }

  key(bucketKey: number): Buffer {
    return this.#values.key(bucketKey);
  }

  /** Number of the put that a value is from; -1: it is from none of that key. */
  numberOf(value: Uint8Array, key: number): number {
    return this.#values.versionOf(value, key) ?? -1;
  }

  async #writeRows(): Promise<void> {
    while (!this.#isOver) {
      if (this.#isOn) {
        for (const bucket of this.rows.keys()) {
          const burst = Math.floor(this.#random() * 12);
          for (let i = 0; i < burst; i += 1) this.#offer(bucket);
        }
      }
      await sleep(tickMs);
    }
  }

  #offer(bucket: number): void {
    if ((this.#waiting[bucket] ?? 0) >= inFlight) return;
    const sequence = this.rows[bucket] as PutSequence;
    const number = sequence.send();
    const key = sequence.keyOf(number);
    const value = this.#values.value(key, number, bytesOf(number));
    this.#waiting[bucket] = (this.#waiting[bucket] ?? 0) + 1;
    this.#writer.put(rowsTable, this.#values.key(key), value, { bucket }).then(
      () => {
        sequence.acknowledge(number);
        this.#waiting[bucket] = (this.#waiting[bucket] ?? 0) - 1;
      },
      (error: unknown) => {
        if (!this.#isOver) this.#failures.push(String(error));
      },
    );
  }

  async #writeBatches(bucket: number): Promise<void> {
    const groups = this.batches[bucket] as BatchGroups;
    while (!this.#isOver) {
      if (!this.#isOn) {
        await sleep(tickMs);
        continue;
      }
      const number = groups.send();
      const first = (number % groups.groups) * batchKeys;
      const records = Array.from({ length: batchKeys }, (_, i) => ({
        key: this.#values.key(first + i),
        value: this.#values.value(first + i, number, bytesOf(number + i)),
      }));
      // Every third waits for the store, too.
      const completion = number % 3 === 0 ? 'COMPLETION_FLUSH' : 'COMPLETION_LOG';
      try {
        const request = { table: batchesTable, completion, buckets: [{ bucket, records }] };
        const [result] = (await this.#stub.putKv(request)).buckets;
        if (result?.errorCode === 0) groups.acknowledge(number);
        await sleep(tickMs);
      } catch {
        // Killed: whether it was taken is not known, so the next one has another number.
        await sleep(10 * tickMs);
      }
    }
  }
}
