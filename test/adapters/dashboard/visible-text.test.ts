import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  cutText,
  visibleText,
} from '../../../src/adapters/admin/dashboard/page/model/visible-text.js';

it.each([
  ['plain', 'plain'],
  ['with "quotes" and <b>tags</b>', 'with "quotes" and <b>tags</b>'],
  ['two\nlines\tand\r', 'two\\nlines\\tand\\r'],
  ['a\\nb', 'a\\\\nb'],
  ['\u0000\u001b[31m', '\\u{0}\\u{1b}[31m'],
  ['\u202egnp.exe', '\\u{202e}gnp.exe'],
  ['zero\u200bwidth\ufeff', 'zero\\u{200b}width\\u{feff}'],
  ['half \ud83d pair', 'half \\u{d83d} pair'],
  [
    '\u{1f642} \u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
    '\u{1f642} \u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
  ],
  ['a\u200db', 'a\\u{200d}b'],
  ['\u2764\ufe0f\u200d\u{1f525}', '\u2764\ufe0f\u200d\u{1f525}'],
  ['\u2028\u0085', '\\u{2028}\\u{85}'],
  ['', ''],
])('shows %j as %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it('shows nothing that is invisible, and never two texts alike', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      expect(visibleText(a)).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      expect(visibleText(a) === visibleText(b)).toBe(a === b);
    }),
  );
});

it('cuts what is long, and keeps the whole', () => {
  expect(cutText('short', 10)).toEqual({ text: 'short' });
  expect(cutText('0123456789', 10)).toEqual({ text: '0123456789' });
  expect(cutText('0123456789a', 10)).toEqual({ text: '012345678\u2026', full: '0123456789a' });
  expect(cutText('\n'.repeat(20), 10)).toEqual({
    text: '\\n\\n\\n\\n\\\u2026',
    full: '\\n'.repeat(20),
  });
});

it('is bounded, and cuts only what does not fit', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.integer({ min: 1, max: 60 }),
      (text, length) => {
        const { text: cut, full } = cutText(text, length);
        expect([...cut].length).toBeLessThanOrEqual(length);
        const whole = visibleText(text);
        expect(full ?? cut).toBe(whole);
        expect(full === undefined).toBe([...whole].length <= length);
      },
    ),
  );
});
