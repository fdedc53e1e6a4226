import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Doorbell } from '../../src/shared/doorbell.js';
import { RingConsumer, RingProducer, ringBytes } from '../../src/shared/message-ring.js';

type Step = { kind: 'push'; record: number } | { kind: 'drain'; max: number } | { kind: 'reset' };

const step = fc.oneof(
  { weight: 6, arbitrary: fc.nat().map((record): Step => ({ kind: 'push', record })) },
  { weight: 2, arbitrary: fc.nat({ max: 9 }).map((max): Step => ({ kind: 'drain', max })) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'reset' }) },
);

describe('message ring', () => {
  it('behaves as a bounded queue: nothing lost uncounted, nothing twice, nothing out of order', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 200 }),
        fc.constantFrom(2, 4, 8),
        (steps, records) => {
          const buffer = new SharedArrayBuffer(64 + ringBytes(records));
          const bell = new Doorbell(buffer, 0);
          const consumer = new RingConsumer(buffer, 64, records);
          let producer = new RingProducer(buffer, 64, records, bell);
          let model: number[] = [];
          let dropped = 0;
          for (const next of steps) {
            if (next.kind === 'push') {
              producer.push(next.record % 8, next.record, 0, next.record, 0);
              if (model.length < records) model.push(next.record);
              else dropped++;
            } else if (next.kind === 'drain') {
              const seen: number[] = [];
              consumer.drain((_kind, a) => seen.push(a), next.max);
              expect(seen).toEqual(model.splice(0, next.max));
            } else {
              consumer.reset();
              producer = new RingProducer(buffer, 64, records, bell);
              model = [];
            }
            expect(consumer.isEmpty()).toBe(model.length === 0);
          }
          const drops = [0, 1, 2, 3, 4, 5, 6, 7].reduce(
            (sum, kind) => sum + consumer.drops(kind),
            0,
          );
          expect(drops).toBe(dropped);
        },
      ),
    );
  });
});
