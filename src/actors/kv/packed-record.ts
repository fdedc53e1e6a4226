/**
 * A record that lies in a larger piece of bytes, behind the head of the record codec. Replaying a log makes one for every
 * record it has: so it is two numbers and a reference, and its key and value are views that are made when they are asked
 * for.
 */
export class PackedRecord {
  readonly #bytes: Uint8Array;
  /** Of the head. */
  readonly #at: number;
  readonly #keyAt: number;
  readonly #valueAt: number;
  readonly #end: number;
  readonly isDelete: boolean;

  constructor(
    bytes: Uint8Array,
    at: number,
    keyAt: number,
    valueAt: number,
    end: number,
    isDelete: boolean,
  ) {
    this.#bytes = bytes;
    this.#at = at;
    this.#keyAt = keyAt;
    this.#valueAt = valueAt;
    this.#end = end;
    this.isDelete = isDelete;
  }

  get key(): Uint8Array {
    return this.#bytes.subarray(this.#keyAt, this.#valueAt);
  }

  get value(): Uint8Array | null {
    return this.isDelete ? null : this.#bytes.subarray(this.#valueAt, this.#end);
  }

  /** Bytes of key and value. */
  get size(): number {
    return this.#end - this.#keyAt;
  }

  /** Head, key and value as they lie. */
  get packed(): Uint8Array {
    return this.#bytes.subarray(this.#at, this.#end);
  }

  /** Length of `packed`. */
  get packedLength(): number {
    return this.#end - this.#at;
  }
}
