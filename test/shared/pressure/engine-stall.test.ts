import { describe, expect, it } from 'vitest';
import { type EngineVitals, wouldStall } from '../../../src/shared/pressure/engine-stall.js';

const triggers = {
  l0SlowdownWritesTrigger: 20,
  l0StopWritesTrigger: 36,
  maxWriteBufferNumber: 8,
  writeBufferSize: 65_536,
};
const calm: EngineVitals = {
  l0Files: 0,
  immutableMemtables: 0,
  delayedWriteRate: 0,
  isWriteStopped: false,
};

describe('whether a write would stall', () => {
  it.each([
    ['nothing is the matter', {}, false],
    ['the engine slows writers down', { delayedWriteRate: 1 }, true],
    ['the engine has stopped writes', { isWriteStopped: true }, true],
    ['two memtables short of the maximum', { immutableMemtables: 6 }, true],
    ['three memtables short of the maximum', { immutableMemtables: 5 }, false],
    [
      'files and memtables still fit below the trigger',
      { l0Files: 14, immutableMemtables: 4 },
      false,
    ],
    ['files and memtables make the trigger', { l0Files: 14, immutableMemtables: 5 }, true],
    ['files alone make the trigger', { l0Files: 19 }, true],
  ])('%s', (_, vitals, stalls) => {
    expect(wouldStall(triggers, { ...calm, ...vitals })).toBe(stalls);
  });

  it('goes by the stop trigger when there is no slowdown trigger', () => {
    const without = { ...triggers, l0SlowdownWritesTrigger: 0 };
    expect(wouldStall(without, { ...calm, l0Files: 34 })).toBe(false);
    expect(wouldStall(without, { ...calm, l0Files: 35 })).toBe(true);
  });
});
