/**
 * The bucket of a key among `buckets`: FNV-1a of its bytes in 32 bits, finished by the mixer of MurmurHash3, so that keys
 * that differ in their last byte alone spread. Readers of single keys need the same choice, so it never changes.
 */
export function bucketOfKey(key: Uint8Array, buckets: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) {
    hash = Math.imul(hash ^ (key[i] as number), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % buckets;
}
