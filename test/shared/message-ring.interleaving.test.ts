import { describe, expect, it } from 'vitest';
import { Doorbell } from '../../src/shared/doorbell.js';
import { RingConsumer, RingProducer, ringBytes } from '../../src/shared/message-ring.js';
import { explore, type Scenario } from '../interleaving/explorer.js';
import type { Body, SteppedAtomics } from '../interleaving/stepped-thread.js';

const BELL = 0;
/** A word that only the explorer reads. */
const TOLD = 32;
const RECORDS = 2;
const BASE = 64;
const STRIDE = ringBytes(RECORDS);

/** Rings of two records each, one per producer, and one doorbell. */
function rings(producers: number) {
  const buffer = new SharedArrayBuffer(BASE + producers * STRIDE);
  const told = new Int32Array(buffer, TOLD, 1);
  return {
    buffer,
    tell: (atomics: SteppedAtomics) => (a: number) => atomics.store(told, 0, a),
    visible: (words: { byteOffset: number }) => words.byteOffset !== TOLD,
    bell: (atomics: SteppedAtomics) => new Doorbell(buffer, BELL, atomics),
    producer: (atomics: SteppedAtomics, ring: number) => {
      const bell = new Doorbell(buffer, BELL, atomics);
      return new RingProducer(buffer, BASE + ring * STRIDE, RECORDS, bell, atomics);
    },
    consumer: (atomics: SteppedAtomics, ring: number) =>
      new RingConsumer(buffer, BASE + ring * STRIDE, RECORDS, atomics),
  };
}

/** Pushes records 1 to `count` and tells which of them asked for a wake-up. */
const push =
  (shared: ReturnType<typeof rings>, ring: number, count: number): Body =>
  (atomics) => {
    const producer = shared.producer(atomics, ring);
    const wakes: number[] = [];
    for (let i = 1; i <= count; i++) if (producer.push(i % 8, i, -i, i / 2, i * 1e9)) wakes.push(i);
    return wakes;
  };

/** Drains into `seen`, a record as its first number, after a look at the others; `tell`s the explorer what it read. */
const take = (consumer: RingConsumer, seen: number[], tell?: (a: number) => void): void => {
  consumer.drain((kind, a, b, x, y) => {
    tell?.(a);
    if (kind !== a % 8 || b !== -a >>> 0 || x !== a / 2 || y !== a * 1e9) {
      throw new Error(`half a record: ${kind} ${a} ${b} ${x} ${y}`);
    }
    seen.push(a);
  });
};

describe('message ring, every interleaving', () => {
  it('hands over whole records in order, drops counted, its producer killed anywhere', () => {
    const create = (): Scenario => {
      const shared = rings(1);
      return {
        buffer: shared.buffer,
        threads: [
          push(shared, 0, 4),
          (atomics) => {
            const consumer = shared.consumer(atomics, 0);
            const seen: number[] = [];
            for (let i = 0; i < 4; i++) take(consumer, seen, shared.tell(atomics));
            return seen;
          },
        ],
        mortal: [0],
        visible: shared.visible,
        plainReads: true,
        checkEnd([wakes, drained]) {
          const consumer = shared.consumer(Atomics, 0);
          const seen = [...(drained as number[])];
          take(consumer, seen);
          expect(consumer.isEmpty()).toBe(true);
          expect(seen).toEqual(seen.toSorted());
          const drops = [0, 1, 2, 3, 4].reduce((sum, kind) => sum + consumer.drops(kind), 0);
          if (wakes !== undefined) expect(seen.length + drops).toBe(4);
          else expect(seen.length + drops).toBeLessThanOrEqual(4);
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(100);
  });

  const sleeper = (recheck: boolean) => (): Scenario => {
    const shared = rings(2);
    return {
      buffer: shared.buffer,
      visible: shared.visible,
      plainReads: true,
      threads: [
        push(shared, 0, 2),
        push(shared, 1, 1),
        (atomics) => {
          const bell = shared.bell(atomics);
          const consumers = [shared.consumer(atomics, 0), shared.consumer(atomics, 1)];
          const seen: number[] = [];
          for (let i = 0; i < 3; i++) {
            for (const consumer of consumers) take(consumer, seen, shared.tell(atomics));
            bell.arm();
            if (!recheck || consumers.every((consumer) => consumer.isEmpty())) return 'asleep';
            bell.disarm();
          }
          return 'awake';
        },
      ],
      checkEnd([one, other, end]) {
        const wakes = [...(one as number[]), ...(other as number[])].length;
        const left = [0, 1].some((ring) => !shared.consumer(Atomics, ring).isEmpty());
        if (end !== 'asleep') return;
        // Asleep: either nothing waits, or one producer has taken the bell and been told to wake the consumer.
        const armed = new Int32Array(shared.buffer)[0] === 1;
        if (left) expect([armed, wakes > 0]).toEqual([false, true]);
        if (armed) expect(left).toBe(false);
      },
    };
  };

  it('never leaves records to a sleeping consumer without one wake-up', () => {
    expect(explore(sleeper(true), { preemptions: 4 }).ends).toBeGreaterThan(50);
  });

  it('would, if the consumer did not look again after it armed the bell', () => {
    expect(() => explore(sleeper(false))).toThrow(/schedule/);
  });
});
