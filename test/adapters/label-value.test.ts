import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelValue, MAX_LABEL_LENGTH } from '../../src/adapters/prometheus/label-value.js';

describe('the value of a label', () => {
  it.each([
    '10086',
    'orders',
    'a"b',
    'a\\b',
    '<script>alert(1)</script>',
    'Größe/💥',
    'x'.repeat(160),
  ])('is the name itself: %s', (name) => expect(labelValue(name)).toBe(name));

  it.each([
    ['newlines', 'a\nb', 'a\ufffdb'],
    ['NUL', 'a\u0000b', 'a\ufffdb'],
    ['escapes of a terminal', '\u001b[31mred\u009b', '\ufffd[31mred\ufffd'],
    ['a lone surrogate', 'a\ud800', 'a\ufffd'],
    ['10 KB', 'x'.repeat(10_240), 'x'.repeat(135)],
    ['what looks like a name that was cut', `a~${'0'.repeat(24)}`, `a~${'0'.repeat(24)}`],
  ])('makes %s readable, with a hash of the whole', (_, name, readable) => {
    const value = labelValue(name);
    expect(value.slice(0, -25)).toBe(readable);
    expect(value.slice(-25)).toMatch(/^~[0-9a-f]{24}$/);
  });

  it('cuts no character in two that it shows', () => {
    const value = labelValue(`${'x'.repeat(134)}💥${'y'.repeat(100)}`);
    expect(value).not.toMatch(/\p{Cs}/u);
    expect(value.startsWith(`${'x'.repeat(134)}\ufffd~`)).toBe(true);
  });

  const unit = fc.constantFrom(
    'a',
    '"',
    '\\',
    '\n',
    '\0',
    '~',
    '0',
    '\ud800',
    '\ud801',
    '\udc00',
    '💥',
  );
  const name = fc
    .tuple(fc.array(unit, { maxLength: 5 }), fc.constantFrom(0, 150, 200), fc.boolean())
    .map(([units, more, first]) => {
      const tail = 'x'.repeat(more);
      return first ? units.join('') + tail : tail + units.join('');
    });

  it('tells names apart, is bounded and well-formed', () => {
    fc.assert(
      fc.property(name, name, (a, b) => {
        const [first, second] = [labelValue(a), labelValue(b)];
        expect(first === second).toBe(a === b);
        expect(first.length).toBeLessThanOrEqual(MAX_LABEL_LENGTH);
        expect(first).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        // Nobody can take the place of another by calling himself what that one is shown as.
        expect(labelValue(first) === first).toBe(first === a);
      }),
      { numRuns: 2000 },
    );
  });
});
