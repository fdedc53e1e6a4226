/**
 * The k entries with the highest rate, kept in a binary min-heap of at most k: one comparison for an entry that is too
 * slow, which nearly all are. Entries at zero, or below, or NaN, are left out. The order of equals is free.
 */
export class Hottest {
  readonly #k: number;
  readonly #rates: number[] = [];
  readonly #ids: number[] = [];

  /** k below 1 keeps nothing. */
  constructor(k: number) {
    this.#k = k;
  }

  offer(id: number, rate: number): void {
    if (!(rate > 0) || this.#k < 1) return;
    const size = this.#ids.length;
    if (size < this.#k) {
      this.#ids.push(id);
      this.#rates.push(rate);
      this.#rise(size);
    } else if (rate > (this.#rates[0] as number)) {
      this.#ids[0] = id;
      this.#rates[0] = rate;
      this.#sink();
    }
  }

  /** What was kept, fastest first. */
  ranked(): { readonly id: number; readonly rate: number }[] {
    return this.#ids
      .map((id, i) => ({ id, rate: this.#rates[i] as number }))
      .sort((a, b) => b.rate - a.rate);
  }

  #rise(from: number): void {
    let i = from;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if ((this.#rates[parent] as number) <= (this.#rates[i] as number)) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  #sink(): void {
    const size = this.#ids.length;
    let i = 0;
    for (;;) {
      let least = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        if (child < size && (this.#rates[child] as number) < (this.#rates[least] as number)) {
          least = child;
        }
      }
      if (least === i) return;
      this.#swap(i, least);
      i = least;
    }
  }

  #swap(a: number, b: number): void {
    const id = this.#ids[a] as number;
    const rate = this.#rates[a] as number;
    this.#ids[a] = this.#ids[b] as number;
    this.#rates[a] = this.#rates[b] as number;
    this.#ids[b] = id;
    this.#rates[b] = rate;
  }
}
