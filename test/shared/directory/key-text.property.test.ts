import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutAtCharacter,
  decodeText,
  encodeText,
  maxEncodedBytes,
} from '../../../src/shared/directory/key-text.js';

const encode = (text: string): Uint8Array => {
  const into = new Uint8Array(maxEncodedBytes(text));
  return into.slice(0, encodeText(text, into));
};

describe('key text', () => {
  it('encodes well-formed text as UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(encode(text)).toEqual(new TextEncoder().encode(text));
      }),
    );
  });

  it('comes back as it was, lone surrogates and all', () => {
    const unit = fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code)),
    );
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const text = units.join('');
        const bytes = encode(text);
        expect(decodeText(bytes, bytes.length)).toBe(text);
      }),
    );
  });

  it('keeps two lone surrogates and the replacement character apart', () => {
    expect(
      new Set(['\ud800', '\ud801', '\udc00', '\ufffd'].map((t) => encode(t).join())).size,
    ).toBe(4);
  });

  it('never cuts a character in two', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 40 }),
        fc.nat({ max: 39 }),
        (text, limit) => {
          const bytes = encode(text);
          const cut = cutAtCharacter(bytes, limit);
          expect(limit - cut).toBeLessThan(4);
          expect(text.startsWith(decodeText(bytes, cut))).toBe(true);
        },
      ),
    );
  });
});
