import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Mailbox } from '../../../src/actors/core/mailbox.js';

it('holds at most its capacity, keeps order, and accounts for every message', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom('reject' as const, 'drop-oldest' as const, 'drop-newest' as const),
      fc.array(fc.constantFrom('offer', 'take', 'control', 'take control'), { maxLength: 200 }),
      (capacity, overflow, steps) => {
        const mailbox = new Mailbox<number, number>({ capacity, overflow });
        let model: number[] = [];
        const control: number[] = [];
        let sent = 0;
        let delivered = 0;
        let lost = 0;
        for (const step of steps) {
          if (step === 'offer') {
            const offer = mailbox.offer(sent);
            const isFull = model.length === capacity;
            if (!isFull || overflow === 'drop-oldest') model.push(sent);
            if (isFull) lost += 1;
            if (isFull && overflow === 'drop-oldest') {
              expect(offer).toEqual({ kind: 'displaced', message: model[0] });
              model = model.slice(1);
            }
            sent += 1;
          } else if (step === 'take' && mailbox.length > 0) {
            expect(mailbox.take()).toBe(model.shift());
            delivered += 1;
          } else if (step === 'control') {
            mailbox.pushControl(sent);
            control.push(sent);
          } else if (step === 'take control' && mailbox.controlLength > 0) {
            expect(mailbox.takeControl()).toBe(control.shift());
          }
          expect(mailbox.length).toBe(model.length);
          expect(mailbox.controlLength).toBe(control.length);
        }
        expect(mailbox.close()).toEqual(model);
        expect(sent).toBe(delivered + lost + model.length);
        expect(mailbox.isEmpty).toBe(true);
      },
    ),
  );
});
