/** The newest so many of an endless sequence. */
export class Recent<Item> {
  readonly #items: Item[] = [];
  readonly #capacity: number;
  /** Where the oldest is, once it is full. */
  #oldest = 0;

  /** `capacity`: an integer >= 1. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(item: Item): void {
    if (this.#items.length < this.#capacity) {
      this.#items.push(item);
      return;
    }
    this.#items[this.#oldest] = item;
    this.#oldest = (this.#oldest + 1) % this.#capacity;
  }

  /** The newest `count`, oldest first. */
  newest(count: number = this.#capacity): Item[] {
    const all = [...this.#items.slice(this.#oldest), ...this.#items.slice(0, this.#oldest)];
    return count >= all.length ? all : all.slice(all.length - Math.max(0, count));
  }
}
