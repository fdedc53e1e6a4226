/**
 * The key block of one (space, key): what a cell stores of its key, in the form in which it is compared and hashed. One
 * block is the scratch of one thread: `set` it, then compare it with cells or write it into one.
 */
import type { ArenaAtomics } from '../arena-atomics.js';
import { CELL_FIELD, HASHED_KEY, KEY_BYTES, KEY_PREFIX_BYTES } from './cell.js';
import { hash128 } from './key-hash.js';
import { cutAtCharacter, decodeText, encodeText, maxEncodedBytes } from './key-text.js';

/** Seed of the digest of long keys; apart from the small numbers that spaces are. */
const DIGEST_SEED = 0x5b11_1a7e;

const META = CELL_FIELD.META / 4;
const HASH_LO = CELL_FIELD.HASH_LO / 4;
const HASH_HI = CELL_FIELD.HASH_HI / 4;
const KEY = CELL_FIELD.KEY / 4;

export class KeyBlock {
  readonly #bytes: Uint8Array = new Uint8Array(KEY_BYTES);
  readonly #key: Int32Array = new Int32Array(this.#bytes.buffer);
  readonly #hash: Int32Array = new Int32Array(4);
  #meta = 0;
  #words = 0;

  /** Places the key in a slot table. */
  get hash(): number {
    return this.#hash[0] as number;
  }

  set(space: number, key: string): void {
    const whole = maxEncodedBytes(key) <= KEY_BYTES;
    const text = whole ? this.#bytes : new Uint8Array(maxEncodedBytes(key));
    let length = encodeText(key, text);
    let flag = 0;
    if (!whole) {
      if (length <= KEY_BYTES) {
        this.#bytes.set(text.subarray(0, length));
      } else {
        hash128(text, length, DIGEST_SEED, this.#hash);
        const cut = cutAtCharacter(text, KEY_PREFIX_BYTES);
        this.#bytes.set(text.subarray(0, cut));
        this.#bytes.set(new Uint8Array(this.#hash.buffer), cut);
        length = cut + 16;
        flag = HASHED_KEY;
      }
    }
    this.#words = (length + 3) >>> 2;
    this.#bytes.fill(0, length, this.#words * 4);
    this.#meta = space | ((length | flag) << 16);
    hash128(this.#bytes, length, space, this.#hash);
  }

  /** Writes the block into a cell that nobody else can see. */
  writeTo(atomics: ArenaAtomics, words: Int32Array, cell: number): void {
    atomics.store(words, cell + META, this.#meta);
    atomics.store(words, cell + HASH_LO, this.#hash[0] as number);
    atomics.store(words, cell + HASH_HI, this.#hash[1] as number);
    for (let i = 0; i < this.#words; i++) {
      atomics.store(words, cell + KEY + i, this.#key[i] as number);
    }
  }

  /** Whether the cell at word index `cell`, found in a slot table, has this key. */
  matches(atomics: ArenaAtomics, words: Int32Array, cell: number): boolean {
    if (atomics.load(words, cell + HASH_LO) !== this.#hash[0]) return false;
    if (atomics.load(words, cell + HASH_HI) !== this.#hash[1]) return false;
    if (atomics.load(words, cell + META) !== this.#meta) return false;
    for (let i = 0; i < this.#words; i++) {
      if (atomics.load(words, cell + KEY + i) !== this.#key[i]) return false;
    }
    return true;
  }
}

/** What a cell says about its key. */
export interface KeyDescription {
  readonly space: number;
  /** The key's text; of a key over 128 bytes the prefix, `~` and 32 hex digits of hash. */
  readonly key: string;
  /** Whether `key` is such a prefix and hash. */
  readonly hashed: boolean;
}

/** Reads what cells say; a snapshot does so thousands of times, so one scratch serves all of them. */
export class KeyReader {
  readonly #bytes: Uint8Array = new Uint8Array(KEY_BYTES);
  readonly #key: Int32Array = new Int32Array(this.#bytes.buffer);

  /** Of the cell at word index `cell`, which is, or was in this turn, live. */
  read(atomics: ArenaAtomics, words: Int32Array, cell: number): KeyDescription {
    const meta = atomics.load(words, cell + META);
    const hashed = ((meta >>> 16) & HASHED_KEY) !== 0;
    const length = (meta >>> 16) & ~HASHED_KEY;
    for (let i = 0; i < (length + 3) >>> 2; i++) {
      this.#key[i] = atomics.load(words, cell + KEY + i);
    }
    const text = decodeText(this.#bytes, hashed ? length - 16 : length);
    const digest = hashed ? `~${hex(this.#bytes.subarray(length - 16, length))}` : '';
    return { space: meta & 0xffff, key: text + digest, hashed };
  }
}

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
