import { describe, expect, it } from 'vitest';
import { Doorbell } from '../../src/shared/doorbell.js';
import { RingConsumer, RingProducer, ringBytes } from '../../src/shared/message-ring.js';

const BELL = 0;
const BASE = 64;

interface Ring {
  readonly buffer: SharedArrayBuffer;
  readonly bell: Doorbell;
  readonly consumer: RingConsumer;
  producer(): RingProducer;
}

function createRing(records: number): Ring {
  const buffer = new SharedArrayBuffer(BASE + ringBytes(records));
  const bell = new Doorbell(buffer, BELL);
  return {
    buffer,
    bell,
    consumer: new RingConsumer(buffer, BASE, records),
    producer: () => new RingProducer(buffer, BASE, records, bell),
  };
}

function drained(consumer: RingConsumer, max?: number): number[][] {
  const records: number[][] = [];
  consumer.drain((...record) => records.push(record), max);
  return records;
}

describe('message ring', () => {
  it('hands over records whole and in order', () => {
    const { consumer, producer } = createRing(8);
    const sender = producer();
    sender.push(0, 1, 0xffff_ffff, 0.5, -1e300);
    sender.push(7, 0x8000_0000, 2, Number.MAX_SAFE_INTEGER, Number.NaN);
    expect(drained(consumer)).toEqual([
      [0, 1, 0xffff_ffff, 0.5, -1e300],
      [7, 0x8000_0000, 2, Number.MAX_SAFE_INTEGER, Number.NaN],
    ]);
    expect(consumer.isEmpty()).toBe(true);
  });

  it('drops what finds it full, counts it by kind, and goes on', () => {
    const { consumer, producer } = createRing(4);
    const sender = producer();
    for (let i = 0; i < 4; i++) sender.push(1, i, 0, 0, 0);
    sender.push(1, 4, 0, 0, 0);
    sender.push(5, 5, 0, 0, 0);
    sender.push(5, 6, 0, 0, 0);
    expect([1, 5, 0].map((kind) => consumer.drops(kind))).toEqual([1, 2, 0]);
    expect(drained(consumer, 1)).toEqual([[1, 0, 0, 0, 0]]);
    sender.push(2, 7, 0, 0, 0);
    expect(drained(consumer).map(([, a]) => a)).toEqual([1, 2, 3, 7]);
  });

  it('asks for one wake-up per batch, and only of a sleeping consumer', () => {
    const { bell, consumer, producer } = createRing(8);
    const [one, other] = [producer(), createRing(8).producer()];
    expect(one.push(0, 0, 0, 0, 0)).toBe(false);
    drained(consumer);
    bell.arm();
    expect([one.push(0, 1, 0, 0, 0), one.push(0, 2, 0, 0, 0)]).toEqual([true, false]);
    expect(other.push(0, 0, 0, 0, 0)).toBe(false);
    bell.arm();
    bell.disarm();
    expect(one.push(0, 3, 0, 0, 0)).toBe(false);
  });

  it('asks for a wake-up even with a record that it drops', () => {
    const { bell, producer } = createRing(2);
    const sender = producer();
    sender.push(0, 0, 0, 0, 0);
    sender.push(0, 1, 0, 0, 0);
    bell.arm();
    expect(sender.push(0, 2, 0, 0, 0)).toBe(true);
  });

  it('does not meet a record twice that its handler threw at', () => {
    const { consumer, producer } = createRing(8);
    const sender = producer();
    for (let i = 0; i < 3; i++) sender.push(0, i, 0, 0, 0);
    expect(() =>
      consumer.drain(() => {
        throw new Error('poison');
      }),
    ).toThrow('poison');
    expect(drained(consumer).map(([, a]) => a)).toEqual([1, 2]);
  });

  it('belongs to the next producer after a reset, and no longer to the last', () => {
    const { consumer, producer } = createRing(4);
    const last = producer();
    last.push(0, 1, 0, 0, 0);
    consumer.reset();
    expect(consumer.isEmpty()).toBe(true);
    const next = producer();
    next.push(3, 2, 0, 0, 0);
    last.push(4, 3, 0, 0, 0);
    expect(drained(consumer)).toEqual([[3, 2, 0, 0, 0]]);
    expect(consumer.drops(4)).toBe(1);
  });

  it('goes on when its positions wrap', () => {
    const { buffer, consumer, producer } = createRing(4);
    const words = new Int32Array(buffer, BASE);
    words[0] = 2 ** 31 - 3;
    words[64 / 4] = 2 ** 31 - 3;
    const sender = producer();
    for (let i = 0; i < 12; i++) {
      sender.push(0, i, 0, 0, 0);
      if (i % 3 === 2) expect(drained(consumer).map(([, a]) => a)).toEqual([i - 2, i - 1, i]);
    }
    expect(consumer.drops(0)).toBe(0);
  });

  it.each([-1, 8, 1.5, Number.NaN])('refuses the kind %s', (kind) => {
    expect(() => createRing(4).producer().push(kind, 0, 0, 0, 0)).toThrow(
      new RangeError(`kind must be an integer from 0 to 7, got ${kind}`),
    );
  });

  it.each([0, 1, 3, 2.5, Number.NaN])('refuses %s records', (records) => {
    expect(() => new RingConsumer(new SharedArrayBuffer(4096), 0, records)).toThrow(
      new RangeError(`records must be a power of two >= 2, got ${records}`),
    );
  });
});
