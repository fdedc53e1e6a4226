/** A first-in, first-out queue in a ring that grows by doubling: no shifting, no per-item node. */
export class Deque<Item> {
  #slots: (Item | undefined)[] = new Array(8);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: Item): void {
    if (this.#length === this.#slots.length) this.#grow();
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = item;
    this.#length += 1;
  }

  /** Must not be called on an empty queue: an item may itself be `undefined`. */
  shift(): Item {
    const item = this.#slots[this.#head] as Item;
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length -= 1;
    return item;
  }

  /** Empties the queue and returns what was in it, oldest first. */
  drain(): Item[] {
    const items: Item[] = [];
    while (this.#length > 0) items.push(this.shift());
    this.#slots = new Array(8);
    this.#head = 0;
    return items;
  }

  #grow(): void {
    const size = this.#slots.length;
    const slots: (Item | undefined)[] = new Array(size * 2);
    for (let i = 0; i < size; i += 1) slots[i] = this.#slots[(this.#head + i) & (size - 1)];
    this.#slots = slots;
    this.#head = 0;
  }
}
