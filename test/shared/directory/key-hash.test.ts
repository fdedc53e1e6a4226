import { describe, expect, it } from 'vitest';
import { hash128 } from '../../../src/shared/directory/key-hash.js';

function hashOf(bytes: Uint8Array, seed: number): Int32Array {
  const out = new Int32Array(4);
  hash128(bytes, bytes.length, seed, out);
  return out;
}

const hex = (words: Int32Array): string =>
  Array.from(words, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');

describe('hash128', () => {
  it('has the verification value that SMHasher states for MurmurHash3_x86_128', () => {
    const hashes = new Uint8Array(256 * 16);
    for (let i = 0; i < 256; i++) {
      const key = Uint8Array.from({ length: i }, (_, byte) => byte);
      hashes.set(new Uint8Array(hashOf(key, 256 - i).buffer), i * 16);
    }
    expect((hashOf(hashes, 0)[0] as number) >>> 0).toBe(0xb3ece62a);
  });

  it('hashes a known sentence to its known value', () => {
    const text = new TextEncoder().encode('The quick brown fox jumps over the lazy dog');
    expect(hex(hashOf(text, 0))).toBe('2f1583c3ecee2c675d7bf66ce5e91d2c');
  });

  it('flips about half of the bits for each flipped bit of input', () => {
    const flipped = new Array<number>(128).fill(0);
    const rounds = 64 * 8;
    for (let round = 0; round < rounds; round++) {
      const key = Uint8Array.from(
        { length: 8 },
        (_, i) => Math.imul(round * 8 + i, 0x9e3779b1) >>> 24,
      );
      const before = hashOf(key, 7);
      key[(round >>> 3) % 8] = (key[(round >>> 3) % 8] as number) ^ (1 << (round & 7));
      const after = hashOf(key, 7);
      for (let bit = 0; bit < 128; bit++) {
        const word = bit >>> 5;
        const changed = (before[word] as number) ^ (after[word] as number);
        flipped[bit] = (flipped[bit] as number) + ((changed >>> (bit & 31)) & 1);
      }
    }
    for (const count of flipped) {
      // 512 fair coins: 256 +- 6 standard deviations of 11.3.
      expect(Math.abs(count - rounds / 2)).toBeLessThan(68);
    }
  });

  it('spreads consecutive decimal ids evenly', () => {
    const bins = new Array<number>(256).fill(0);
    for (let id = 0; id < 256 * 100; id++) {
      const bin =
        ((hashOf(new TextEncoder().encode(String(10_000 + id)), 3)[0] as number) >>> 24) & 255;
      bins[bin] = (bins[bin] as number) + 1;
    }
    const chiSquare = bins.reduce((sum, count) => sum + (count - 100) ** 2 / 100, 0);
    // 255 degrees of freedom: mean 255, standard deviation 22.6.
    expect(chiSquare).toBeLessThan(255 + 6 * 22.6);
  });
});
