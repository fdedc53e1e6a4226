import fc from 'fast-check';
import { expect, it } from 'vitest';
import { batch, LogUnderTest } from './log-under-test.js';

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), n: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('reopen' as const), clean: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('full' as const), room: fc.nat(200) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('power' as const),
      seed: fc.integer({ min: 0, max: 255 }),
      share: fc.nat(8),
    }),
  },
);

it('keeps every group that was acknowledged, whole and in order, through full disks and losses of power', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 600 }),
      (steps, size) => {
        const under = new LogUnderTest(size);
        const kept: string[] = [];
        let lsn = 0;
        const group = (n: number): ReturnType<typeof batch>[] =>
          Array.from({ length: n + 1 }, () => {
            lsn += 1;
            return batch('t', lsn, 'v'.repeat(lsn % 50));
          });
        const names = (batches: readonly ReturnType<typeof batch>[]): string[] =>
          batches.map(({ firstLsn }) => `t@${firstLsn}:${'v'.repeat(firstLsn % 50)}`);
        for (const one of steps) {
          if (one.kind === 'append') {
            const batches = group(one.n);
            under.append(...batches);
            kept.push(...names(batches));
          } else if (one.kind === 'full') {
            under.files.roomBytes = one.room;
            const batches = group(2);
            try {
              under.append(...batches);
              kept.push(...names(batches));
            } catch {
              // Refused: nothing of it may be found.
            }
            under.files.roomBytes = Number.POSITIVE_INFINITY;
          } else {
            let torn: string[] = [];
            if (one.kind === 'reopen' && one.clean) under.store.close();
            if (one.kind === 'power') {
              // Dies in the middle of a group: written, never synced, each byte on the disk or not.
              const batches = group(2);
              under.files.syncError = Object.assign(new Error('dies'), { code: 'EIO' });
              expect(() => under.append(...batches)).toThrow('dies');
              torn = names(batches);
              under.files.losePower((byte) => ((byte * 31 + one.seed) & 7) < one.share);
            }
            under.open();
            const whole = [...kept, ...torn];
            if (torn.length > 0 && under.found.length === whole.length) kept.push(...torn);
          }
          if (one.kind === 'reopen' || one.kind === 'power') expect(under.found).toEqual(kept);
        }
        under.open();
        expect(under.found).toEqual(kept);
      },
    ),
    { numRuns: 300 },
  );
});
