import { createRandom } from '../load/random.js';

/** Version u32, key u32, thread u32 (little-endian) in front of each value. */
const HEAD = 12;
const POOL = 1 << 20;

/** Values that tell which put they are from, and of which no two compress well together. */
export class VersionedValues {
  readonly #pool: Buffer;
  readonly #thread: number;

  constructor(seed: number, thread: number) {
    const random = createRandom(seed);
    this.#pool = Buffer.allocUnsafe(POOL);
    for (let at = 0; at < POOL; at += 4) this.#pool.writeUInt32LE(random() * 2 ** 32, at);
    this.#thread = thread;
  }

  /** Keys lie in no order, and no two threads share one. */
  key(id: number): Buffer {
    const key = Buffer.allocUnsafe(5);
    key.writeUInt32BE(scatter(id), 0);
    key[4] = this.#thread;
    return key;
  }

  /** `bytes` at least 12. */
  value(id: number, version: number, bytes: number): Buffer {
    const value = Buffer.allocUnsafe(bytes);
    value.writeUInt32LE(version, 0);
    value.writeUInt32LE(id, 4);
    value.writeUInt32LE(this.#thread, 8);
    const from = scatter(id ^ scatter(version)) % (POOL - bytes);
    this.#pool.copy(value, HEAD, from, from + bytes - HEAD);
    return value;
  }

  /** Version of the put of `id` that it is from; undefined: it is from none. */
  versionOf(value: Uint8Array, id: number): number | undefined {
    if (value.length < HEAD) return undefined;
    const found = Buffer.from(value.buffer, value.byteOffset, value.length);
    const version = found.readUInt32LE(0);
    return found.equals(this.value(id, version, found.length)) ? version : undefined;
  }
}

/** Another number of 32 bits for each (the finaliser of MurmurHash3, which loses nothing). */
function scatter(number: number): number {
  let mixed = number >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
