import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CELL_BYTES, CELL_FIELD } from '../../../src/shared/directory/cell.js';
import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  CELL,
  CLOCK_WORD,
  EPOCH_SHIFT,
  INTERVAL_MASK,
  MAX_DEBT_NS,
  PLAN_SHIFT,
  SLOT,
  STATE_WORD,
  STATS,
  STATS_BYTES,
  TakeCode,
  TIME_MASK,
} from '../../../src/shared/kernel/port.js';
import {
  FLAG,
  HEADER,
  HEADER_BYTES,
  SETTINGS,
  SETTINGS_BYTES,
  THREAD,
} from '../../../src/shared/layout.js';
import { MAX_SPAN_NS } from '../../../src/shared/quota.js';

const source = readFileSync(
  new URL('../../../src/shared/kernel/assembly/kernel.ts', import.meta.url),
  'utf8',
);

/** Every constant of the assembly source, by name. */
const constants = new Map(
  [...source.matchAll(/^const (\w+): \w+ = (\w+)/gm)].map(([, name, value]) => [
    name as string,
    BigInt(value as string),
  ]),
);

describe('the constants of the assembly kernel', () => {
  const expected: Record<string, bigint | number> = {
    STATE: STATE_WORD,
    CLOCK: CLOCK_WORD,
    EPOCH_SHIFT,
    EPOCHS: 64,
    TIME: TIME_MASK,
    MAX_DEBT: MAX_DEBT_NS,
    ...TakeCode,
    SLOTS: BUCKET_SLOTS,
    ...SLOT,
    CELL_WORD: CELL.WORD,
    CELL_SLOTS: CELL.SLOTS,
    PLAN_SHIFT,
    INTERVAL_MASK,
    RESERVED: STATS.RESERVED,
    RETURNED: STATS.RETURNED,
    REFUSALS: STATS.REFUSED,
  };

  it.each(Object.entries(expected))('%s is that of the port', (name, value) => {
    expect(constants.get(name)).toBe(BigInt(value));
  });

  it('are all compared; what is the kernel’s own lies between a bucket’s word and its slots', () => {
    for (const [name, value] of constants) {
      if (name in expected) continue;
      expect(name).toMatch(/^HOT_|^MAX_COST$|^BACKOFF$|^NEVER$/);
      if (!name.startsWith('HOT_')) continue;
      expect(value).toBeGreaterThanOrEqual(8n);
      expect(value).toBeLessThan(BigInt(BUCKET_SLOTS));
    }
  });
});

describe('the port’s words', () => {
  const disjoint = (offsets: readonly number[], bytes: number, end: number): void => {
    expect(new Set(offsets).size).toBe(offsets.length);
    for (const offset of offsets) {
      expect(offset % bytes).toBe(0);
      expect(offset + bytes).toBeLessThanOrEqual(end);
    }
  };

  it('do not overlap within a block', () => {
    disjoint(Object.values(STATS), 8, STATS_BYTES);
    disjoint(Object.values(SLOT), 8, 64);
    disjoint(Object.values(SETTINGS), 8, SETTINGS_BYTES);
    disjoint(Object.values(THREAD), 4, 64);
    expect(BUCKET_BYTES).toBe(BUCKET_SLOTS + 8 * 64);
    const flags = Object.values(FLAG);
    expect(flags).toEqual(flags.map((_, bit) => 1 << bit));
  });

  it('leave the header’s words to the header', () => {
    for (const offset of Object.values(HEADER)) expect(offset).toBeGreaterThanOrEqual(128);
    disjoint(Object.values(HEADER), 4, HEADER_BYTES);
    expect(HEADER.SETTINGS + 4 * SETTINGS_BYTES).toBeLessThanOrEqual(HEADER.TOTALS);
    expect(HEADER.TOTALS + 16 * 8).toBeLessThanOrEqual(HEADER.MAX_LAG);
  });

  it('fit into the part of a cell that the directory leaves to the limiter', () => {
    expect(CELL.COUNT).toBe(CELL_FIELD.COUNT);
    expect(CELL.GENERATION).toBe(CELL_FIELD.GENERATION);
    expect(CELL.WORD).toBe(CELL.COUNT + 8);
    expect(CELL.SLOTS).toBe(CELL.WORD + 8);
    expect(CELL.SLOTS + 4 * 16).toBeLessThanOrEqual(CELL_FIELD.GENERATION);
    expect(CELL_FIELD.GENERATION).toBeLessThan(CELL_BYTES);
  });

  it('keep time, the longest debt and the longest burst below the epoch for years', () => {
    const room = 2 ** Number(EPOCH_SHIFT) - MAX_DEBT_NS - MAX_SPAN_NS;
    expect(room / (365 * 86_400e9)).toBeGreaterThan(7);
    expect(BigInt(MAX_SPAN_NS)).toBeLessThanOrEqual(INTERVAL_MASK);
  });
});
