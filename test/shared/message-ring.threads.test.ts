import { once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { Doorbell } from '../../dist/shared/doorbell.js';
import { RingConsumer, ringBytes } from '../../dist/shared/message-ring.js';

const RECORDS = 64;
const BASE = 64;

/** One ring per producer, in one buffer with the doorbell (word 0) and the stop word (word 1). */
class Rings {
  readonly buffer: SharedArrayBuffer;
  readonly words: Int32Array;
  readonly bell: Doorbell;
  readonly consumers: readonly RingConsumer[];

  constructor(producers: number) {
    this.buffer = new SharedArrayBuffer(BASE + producers * ringBytes(RECORDS));
    this.words = new Int32Array(this.buffer, 0, 16);
    this.bell = new Doorbell(this.buffer, 0);
    this.consumers = Array.from(
      { length: producers },
      (_, i) => new RingConsumer(this.buffer, this.#base(i), RECORDS),
    );
  }

  async start(producer: number): Promise<Worker> {
    const worker = new Worker(new URL('./threads/ring-producer.mjs', import.meta.url), {
      execArgv: [],
      workerData: { buffer: this.buffer, base: this.#base(producer), records: RECORDS },
    });
    await once(worker, 'message');
    return worker;
  }

  #base(producer: number): number {
    return BASE + producer * ringBytes(RECORDS);
  }

  drops(producer: number): number {
    const kinds = [0, 1, 2, 3, 4, 5, 6, 7];
    return kinds.reduce((sum, kind) => sum + (this.consumers[producer]?.drops(kind) ?? 0), 0);
  }
}

/** Takes what is there and checks each record; `last` is the newest number seen. */
function check(consumer: RingConsumer, last: number): { taken: number; last: number } {
  let newest = last;
  const taken = consumer.drain((kind, a, b, x, y) => {
    const whole = kind === a % 8 && b === -a >>> 0 && x === a / 2 && y === a * 1e6;
    if (!whole || a <= newest) throw new Error(`record ${[kind, a, b, x, y]} after ${newest}`);
    newest = a;
  });
  return { taken, last: newest };
}

describe('message rings between real threads', () => {
  it('lose nothing uncounted, and wake a sleeping consumer', async () => {
    const rings = new Rings(2);
    const workers = await Promise.all([rings.start(0), rings.start(1)]);
    const last = [0, 0];
    const taken = [0, 0];
    let sleeps = 0;
    let overslept = 0;
    const drain = (): void => {
      rings.consumers.forEach((consumer, i) => {
        const batch = check(consumer, last[i] as number);
        last[i] = batch.last;
        taken[i] = (taken[i] as number) + batch.taken;
      });
    };
    const until = performance.now() + 1500;
    while (performance.now() < until) {
      drain();
      rings.bell.arm();
      if (rings.consumers.every((consumer) => consumer.isEmpty())) {
        sleeps++;
        // Whoever rings sets the word to 0 and notifies.
        if (Atomics.wait(rings.words, 0, 1, 2000) === 'timed-out') overslept++;
      }
      rings.bell.disarm();
      if (sleeps % 100 === 0) await setImmediate();
    }
    const ends = workers.map((worker) => once(worker, 'message'));
    Atomics.store(rings.words, 1, 1);
    const pushed = (await Promise.all(ends)).map(([count]) => count as number);
    drain();

    expect(pushed).toEqual(taken.map((count, i) => count + rings.drops(i)));
    expect(Math.min(...taken)).toBeGreaterThan(100);
    expect(sleeps).toBeGreaterThan(10);
    expect(overslept).toBe(0);
    await Promise.all(workers.map((worker) => worker.terminate()));
  });

  it('hold whole records only, when their producer is terminated anywhere, and serve the next', async () => {
    const rings = new Rings(1);
    const [consumer] = rings.consumers as [RingConsumer];
    const until = performance.now() + 5000;
    let kills = 0;
    let seen = 0;
    for (; kills < 40 && performance.now() < until; kills++) {
      const worker = await rings.start(0);
      let { last } = check(consumer, 0);
      for (let turn = 0; turn < kills % 5; turn++) {
        await setTimeout(1);
        last = check(consumer, last).last;
      }
      await worker.terminate();
      last = check(consumer, last).last;
      seen += last;
      expect(consumer.isEmpty()).toBe(true);
      consumer.reset();
    }
    expect(kills).toBeGreaterThan(5);
    expect(seen).toBeGreaterThan(100);
  });
});
