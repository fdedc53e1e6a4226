/**
 * One thread's memory of addresses, or buckets, by the text in which callers give them: it spares the hot path the canonical form and
 * the directory. Bounded: two maps, of which the older is dropped when the younger is full.
 */
export class PlaceCache<Place> {
  readonly #make: (address: string) => Place;
  readonly #half: number;
  #young: Map<string, Place> = new Map();
  #old: Map<string, Place> = new Map();

  /** `make` gives the place of an address as a caller writes it, or throws. At most `entries` places are kept. */
  constructor(make: (address: string) => Place, entries = 8192) {
    this.#make = make;
    this.#half = Math.ceil(entries / 2);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(address: string): Place {
    const known = this.#young.get(address);
    if (known !== undefined) return known;
    const place = this.#old.get(address) ?? this.#make(address);
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(address, place);
    return place;
  }
}
