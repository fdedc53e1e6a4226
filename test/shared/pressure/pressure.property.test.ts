import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wouldExceedFlushBudget } from '../../../src/shared/pressure/flush-budget.js';
import { gaugePressure, hasRamp } from '../../../src/shared/pressure/pressure-gauge.js';

const ramps = fc.record({
  slowdownTrigger: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  l0SlowdownWritesTrigger: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
});
const files = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe('the pressure gauge', () => {
  it('stays in [0, 0.999], never falls as files pile up, and a refused flush never lowers it', () => {
    fc.assert(
      fc.property(ramps, files, files, (ramp, a, b) => {
        const [few, many] = a < b ? [a, b] : [b, a];
        const low = gaugePressure(ramp, few, false);
        const high = gaugePressure(ramp, many, false);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(high);
        expect(high).toBeLessThanOrEqual(0.999);
        expect(gaugePressure(ramp, few, true)).toBe(Math.max(low, 0.8));
        if (!hasRamp(ramp) || many < ramp.slowdownTrigger) expect(high).toBe(0);
      }),
    );
  });
});

describe('the flush budget', () => {
  const triggers = fc.record({
    l0SlowdownWritesTrigger: fc.integer({ min: 0, max: 100 }),
    l0StopWritesTrigger: fc.integer({ min: 1, max: 200 }),
    maxWriteBufferNumber: fc.integer({ min: 0, max: 20 }),
    writeBufferSize: fc.integer({ min: 0, max: 1000 }),
  });

  it('is what counting the files one by one says', () => {
    fc.assert(
      fc.property(triggers, fc.nat(250), fc.nat(20_000), fc.boolean(), (given, l0, bytes, no) => {
        let filesToCome = l0 + given.maxWriteBufferNumber;
        if (given.writeBufferSize > 0) {
          for (let rest = bytes; rest > 0; rest -= given.writeBufferSize) filesToCome += 1;
        }
        const trigger = given.l0SlowdownWritesTrigger || given.l0StopWritesTrigger;
        const naive = no || filesToCome >= trigger;
        expect(wouldExceedFlushBudget(given, l0, bytes, no)).toBe(naive);
      }),
    );
  });

  it('counts the last byte of 2^53, too', () => {
    const given = {
      l0SlowdownWritesTrigger: 2 ** 52,
      l0StopWritesTrigger: 0,
      maxWriteBufferNumber: 0,
      writeBufferSize: 2,
    };
    expect(wouldExceedFlushBudget(given, 0, 2 ** 53 - 2, false)).toBe(false);
    expect(wouldExceedFlushBudget(given, 0, 2 ** 53 - 1, false)).toBe(true);
  });

  it('is without bound when the engine never holds anybody up', () => {
    const given = {
      l0SlowdownWritesTrigger: 0,
      l0StopWritesTrigger: 0,
      maxWriteBufferNumber: 8,
      writeBufferSize: 1,
    };
    expect(wouldExceedFlushBudget(given, 1e6, 1e9, false)).toBe(false);
    expect(wouldExceedFlushBudget(given, 0, 0, true)).toBe(true);
  });
});
