/** A 53-bit hash that takes one more value. */
export function fingerprint(hash: number, value: number | bigint): number {
  if (typeof value === 'bigint') {
    return fingerprint(
      fingerprint(hash, Number(value & 0xffff_ffffn)),
      Number((value >> 32n) & 0xffff_ffffn),
    );
  }
  const low = hash | 0;
  const high = Math.floor(hash / 4_294_967_296);
  let a = Math.imul(low ^ value, 0x85ebca6b);
  a ^= a >>> 15;
  let b = Math.imul((high << 8) ^ a ^ Math.imul(value, 0x9e3779b1), 0xc2b2ae35);
  b ^= b >>> 13;
  a = Math.imul(a ^ b, 0x27d4eb2f);
  return (b >>> 11) * 4_294_967_296 + ((a ^ (a >>> 15)) >>> 0);
}

/** The same of a whole memory. */
export function fingerprintOf(words: Int32Array, seed: number): number {
  let a = seed | 0;
  let b = Math.floor(seed / 4_294_967_296) | 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as number;
    if (word === 0) continue;
    a = Math.imul(a ^ word ^ Math.imul(i, 0x9e3779b1), 0x85ebca6b);
    a ^= a >>> 15;
    b = Math.imul(b ^ a ^ word, 0xc2b2ae35);
    b ^= b >>> 13;
  }
  return (b >>> 11) * 4_294_967_296 + (a >>> 0);
}
