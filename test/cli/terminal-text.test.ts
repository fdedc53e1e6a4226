import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeText } from '../../src/cli/safe-text.js';
import { printResult } from '../../src/cli/sql/print-results.js';
import { cutText, fitText, textWidth } from '../../src/cli/text-width.js';
import { percent, shortNumber, shortTime } from '../../src/cli/top/short-numbers.js';
import { HOSTILE_NAMES } from './scripted-backend.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]/;

describe('safe text', () => {
  it.each([
    ['a\nb\r\t', 'a\\nb\\r\\t'],
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u009b31m', '\\u{9b}31m'],
    ['\u202eabc', '\\u{202e}abc'],
    ['\u2066\u2069\u200b', '\\u{2066}\\u{2069}\\u{200b}'],
    ['\ud800', '\\u{d800}'],
    ['\0', '\\u{0}'],
    ['漢字 👩‍💻 é', '漢字 👩‍💻 é'],
  ])('%j is %s', (text, safe) => {
    expect(safeText(text)).toBe(safe);
  });

  it('holds nothing that a terminal obeys', () => {
    for (const name of HOSTILE_NAMES) expect(safeText(name)).not.toMatch(CONTROL);
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !CONTROL.test(safeText(text))));
  });
});

describe('width', () => {
  it.each([
    ['abc', 3],
    ['漢字', 4],
    ['ｱ', 1],
    ['Ａ', 2],
    ['👩‍💻', 2],
    ['🔥', 2],
    ['❤️', 2],
    ['e\u0301', 1],
    ['한국', 4],
    ['é', 1],
  ])('of %s is %i', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it('fits exactly', () => {
    expect(fitText('漢字', 5)).toBe('漢字 ');
    expect(fitText('漢字', 3)).toBe('漢…');
    expect(fitText('漢字', 2)).toBe('… ');
    expect(fitText('12', 4, 'right')).toBe('  12');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, width) => {
        expect(textWidth(fitText(safeText(text), width))).toBe(width);
        expect(textWidth(cutText(safeText(text), width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('short numbers', () => {
  it.each([
    [0, '0'],
    [0.25, '0.25'],
    [7.5, '7.5'],
    [412, '412'],
    [412.7, '413'],
    [9999, '9999'],
    [12_345, '12.3k'],
    [4_100_000, '4.1M'],
    [1e9, '1G'],
    [1e300, '1.0e+300'],
    [100_000, '100k'],
    [Number.NaN, '-'],
    [undefined, '-'],
  ])('%d is %s', (value, text) => {
    expect(shortNumber(value)).toBe(text);
  });

  it.each([
    [0, '0ms'],
    [999, '999ms'],
    [4200, '4.2s'],
    [59_999, '1m00s'],
    [185_000, '3m05s'],
    [7_380_000, '2h03m'],
    [446_400_000, '5d04h'],
    [-5, '0ms'],
    [undefined, '-'],
  ])('%d ms is %s', (ms, text) => {
    expect(shortTime(ms)).toBe(text);
  });

  it('percent', () => {
    expect([percent(0.256), percent(Number.NaN)]).toEqual(['26%', '-']);
  });
});

describe('results', () => {
  const result = {
    columns: [
      { name: 'id', type: 20 },
      { name: 'key', type: 25 },
      { name: 'ok', type: 16 },
      { name: 'qps', type: 701 },
    ],
    rows: [
      ['9223372036854775807', 'a,"b"\n', 't', '1.5'],
      ['2', null, 'f', 'NaN'],
      [null, '', null, null],
    ],
    command: 'SELECT 3',
  };

  it('as a table', () => {
    expect(printResult(result, 'table')).toBe(
      [
        '                 id  key      ok     qps',
        '-------------------  -------  ----  ----',
        '9223372036854775807  a,"b"\\n  t      1.5',
        '                  2  NULL     f      NaN',
        '               NULL           NULL  NULL',
        '(3 rows)',
        '',
      ].join('\n'),
    );
  });

  it('as JSON', () => {
    expect(JSON.parse(printResult(result, 'json'))).toEqual([
      { id: '9223372036854775807', key: 'a,"b"\n', ok: true, qps: 1.5 },
      { id: 2, key: null, ok: false, qps: 'NaN' },
      { id: null, key: '', ok: null, qps: null },
    ]);
    expect(printResult({ ...result, rows: [] }, 'json')).toBe('[]\n');
  });

  it('as CSV', () => {
    expect(printResult(result, 'csv')).toBe(
      'id,key,ok,qps\r\n9223372036854775807,"a,""b""\n",t,1.5\r\n2,,f,NaN\r\n,"",,\r\n',
    );
  });

  it('of a statement without rows', () => {
    const set = { columns: [], rows: [], command: 'SET' };
    expect(printResult(set, 'table')).toBe('SET\n');
    expect(printResult(set, 'csv')).toBe('');
  });

  it('cuts what is wide, and shows only what is safe', () => {
    for (const name of HOSTILE_NAMES) {
      const text = printResult(
        { columns: [{ name, type: 25 }], rows: [[name]], command: '' },
        'table',
      );
      for (const line of text.split('\n')) {
        expect(line).not.toMatch(CONTROL);
        expect(textWidth(line)).toBeLessThanOrEqual(60);
      }
    }
  });
});
