/**
 * MurmurHash3 x86_128 (Austin Appleby, public domain): 128 bits, fast on 32-bit words, well spread. It is no defence
 * against somebody who builds colliding keys on purpose; two such keys would share one cell and so one limit.
 */
const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

const rotl = (x: number, r: number): number => (x << r) | (x >>> (32 - r));

function finalMix(x: number): number {
  let h = x ^ (x >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Writes the 128-bit hash of `bytes[0, length)` into `out`, four 32-bit words, lowest first. */
export function hash128(bytes: Uint8Array, length: number, seed: number, out: Int32Array): void {
  const byte = (i: number): number => (i < length ? (bytes[i] as number) : 0);
  const word = (i: number): number =>
    byte(i) | (byte(i + 1) << 8) | (byte(i + 2) << 16) | (byte(i + 3) << 24);
  let h1 = seed | 0;
  let h2 = h1;
  let h3 = h1;
  let h4 = h1;
  const k1 = (k: number): number => Math.imul(rotl(Math.imul(k, C1), 15), C2);
  const k2 = (k: number): number => Math.imul(rotl(Math.imul(k, C2), 16), C3);
  const k3 = (k: number): number => Math.imul(rotl(Math.imul(k, C3), 17), C4);
  const k4 = (k: number): number => Math.imul(rotl(Math.imul(k, C4), 18), C1);

  let at = 0;
  for (; at + 16 <= length; at += 16) {
    h1 = (Math.imul(rotl(h1 ^ k1(word(at)), 19) + h2, 5) + 0x561ccd1b) | 0;
    h2 = (Math.imul(rotl(h2 ^ k2(word(at + 4)), 17) + h3, 5) + 0x0bcaa747) | 0;
    h3 = (Math.imul(rotl(h3 ^ k3(word(at + 8)), 15) + h4, 5) + 0x96cd1c35) | 0;
    h4 = (Math.imul(rotl(h4 ^ k4(word(at + 12)), 13) + h1, 5) + 0x32ac3b17) | 0;
  }
  // The tail is one more block padded with zeros, mixed in without the rotation of the body.
  h1 ^= k1(word(at));
  h2 ^= k2(word(at + 4));
  h3 ^= k3(word(at + 8));
  h4 ^= k4(word(at + 12));

  h1 ^= length;
  h2 ^= length;
  h3 ^= length;
  h4 ^= length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  h1 = finalMix(h1);
  h2 = finalMix(h2);
  h3 = finalMix(h3);
  h4 = finalMix(h4);
  h1 = (h1 + h2 + h3 + h4) | 0;
  out[0] = h1;
  out[1] = h2 + h1;
  out[2] = h3 + h1;
  out[3] = h4 + h1;
}
