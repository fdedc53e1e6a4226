/**
 * One thread's memory of where keys live, in front of the directory: raw key to cell, valid while the cell's generation
 * is the one remembered, so that a removed cell is never used and nobody has to be told. Bounded: numbers and safe
 * bigints share a direct-mapped array in which the newcomer replaces; strings (and huge bigints) live in two maps of
 * which the older is dropped when the younger is full.
 */
import type { ArenaAtomics } from './arena-atomics.js';
import { CELL_FIELD } from './directory/cell.js';
import type { KeyDirectory } from './key-directory.js';
import { canonicalKey, type TableKey } from './table-key.js';

const GENERATION = CELL_FIELD.GENERATION / 4;

interface CachedCell {
  readonly cell: number;
  readonly generation: number;
}

type TextCache = Map<string, CachedCell>;

export class ThreadKeyCache {
  readonly #directory: KeyDirectory;
  readonly #atomics: ArenaAtomics;
  readonly #words: Int32Array;
  readonly #shift: number;
  readonly #numbers: Float64Array;
  readonly #spaces: Int32Array;
  readonly #cells: Int32Array;
  readonly #generations: Int32Array;
  readonly #maxTexts: number;
  /** Space to texts. */
  #young: Map<number, TextCache> = new Map();
  #old: Map<number, TextCache> = new Map();
  #youngTexts = 0;

  /** `entries`: a power of two, for numbers and for strings each. `buffer`: the directory's. */
  constructor(
    buffer: SharedArrayBuffer,
    directory: KeyDirectory,
    entries = 8192,
    atomics: ArenaAtomics = Atomics,
  ) {
    if (!Number.isSafeInteger(entries) || entries < 2 || (entries & (entries - 1)) !== 0) {
      throw new RangeError(`entries must be a power of two >= 2, got ${entries}`);
    }
    this.#directory = directory;
    this.#atomics = atomics;
    this.#words = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
    this.#shift = Math.clz32(entries) + 1;
    // NaN equals no key.
    this.#numbers = new Float64Array(entries).fill(Number.NaN);
    this.#spaces = new Int32Array(entries);
    this.#cells = new Int32Array(entries);
    this.#generations = new Int32Array(entries);
    this.#maxTexts = entries / 2;
  }

  /**
   * Byte offset of the live cell of (`space`, `key`), made if need be; 0 when the directory is full.
   * @throws as `canonicalKey`, naming `field`.
   */
  lookup(space: number, key: TableKey, field?: string): number {
    if (typeof key === 'number') return this.#lookupNumber(space, key, field);
    if (typeof key === 'bigint') {
      const number = Number(key);
      // A safe integer is exact both ways.
      if (Number.isSafeInteger(number)) return this.#lookupNumber(space, number, field);
    }
    return this.#lookupText(space, canonicalKey(key, field));
  }

  #lookupNumber(space: number, key: number, field: string | undefined): number {
    const mixed = Math.imul((key | 0) ^ Math.imul(space, 0x9e3779b1), 0x85ebca6b);
    const at = mixed >>> this.#shift;
    if (this.#numbers[at] === key && this.#spaces[at] === space) {
      const cell = this.#cells[at] as number;
      if (this.#isCurrent(cell, this.#generations[at] as number)) return cell;
    }
    const cell = this.#directory.findOrInsert(space, canonicalKey(key, field));
    if (cell !== 0) {
      this.#numbers[at] = key;
      this.#spaces[at] = space;
      this.#cells[at] = cell;
      this.#generations[at] = this.#directory.generationOf(cell);
    }
    return cell;
  }

  #lookupText(space: number, text: string): number {
    const young = this.#young.get(space)?.get(text);
    if (young !== undefined && this.#isCurrent(young.cell, young.generation)) return young.cell;
    const old = young === undefined ? this.#old.get(space)?.get(text) : undefined;
    if (old !== undefined && this.#isCurrent(old.cell, old.generation)) {
      this.#remember(space, text, old);
      return old.cell;
    }
    const cell = this.#directory.findOrInsert(space, text);
    if (cell !== 0) {
      this.#remember(space, text, { cell, generation: this.#directory.generationOf(cell) });
    }
    return cell;
  }

  #remember(space: number, text: string, entry: CachedCell): void {
    let texts = this.#young.get(space);
    if (texts === undefined) {
      texts = new Map();
      this.#young.set(space, texts);
    }
    if (!texts.has(text)) this.#youngTexts++;
    texts.set(text, entry);
    if (this.#youngTexts < this.#maxTexts) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngTexts = 0;
  }

  /** An odd generation is never used twice for one cell, so this also says that the cell still has the same key. */
  #isCurrent(cell: number, generation: number): boolean {
    return (
      (generation & 1) === 1 &&
      this.#atomics.load(this.#words, (cell >>> 2) + GENERATION) === generation
    );
  }
}
