import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatPressure, parsePressure } from '../../../src/shared/pressure/pressure-text.js';
import { throttleWindowMs } from '../../../src/shared/pressure/throttle-windows.js';

it.each([
  ['0.25', 0.25],
  [' 0.25 ', 0.25],
  ['.5', 0.5],
  ['1', 1],
  ['0', 0],
  ['7', 7],
  ['-1', -1],
  ['1e-3', 0.001],
  ['1e999', Number.POSITIVE_INFINITY],
  ['0.1, 0.9, 0.2', 0.9],
  ['0.1, nonsense', 0.1],
])('reads %j as %d', (text, pressure) => {
  expect(parsePressure(text)).toBe(pressure);
});

it.each([
  '',
  ' ',
  ',',
  'NaN',
  'Infinity',
  'nonsense',
  '0x1',
  '0,5x',
  '1_000',
  '.',
  '5e',
  '1'.repeat(10_240),
  ','.repeat(10_240),
])('takes %j for nothing or for a number, never for an error', (text) => {
  const pressure = parsePressure(text);
  expect(pressure === undefined || pressure === 0).toBe(true);
});

it('never lets a peer ask for more than the whole window, whatever it sends', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double().map(String)), (text) => {
      const pressure = parsePressure(text);
      if (pressure === undefined) return;
      const windowMs = throttleWindowMs(pressure, 3000);
      expect(windowMs >= 0 && windowMs <= 3000 && Number.isInteger(windowMs)).toBe(true);
    }),
  );
});

it.each([
  [0, undefined],
  [-1, undefined],
  [Number.NaN, undefined],
  [0.5, '0.5'],
  [0.123_456, '0.1235'],
  [1e-9, '0.0001'],
  [0.999_999, '0.9999'],
  [1, '1'],
  [7, '1'],
])('writes %d as %j', (pressure, text) => {
  expect(formatPressure(pressure)).toBe(text);
});

it('writes what is read as the same pressure, to a twenty-thousandth', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (pressure) => {
      const text = formatPressure(pressure);
      if (pressure === 0) expect(text).toBeUndefined();
      else expect(Math.abs((parsePressure(text ?? '') ?? 9) - pressure)).toBeLessThan(1.001e-4);
    }),
  );
});
