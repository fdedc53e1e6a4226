/** A binary heap of things with a deadline, earliest first. What is withdrawn stays until it surfaces or outweighs the rest. */
export interface Deadlined {
  readonly deadlineNs: number;
  /** No longer waits; the heap forgets it. */
  done: boolean;
}

export class DeadlineHeap<T extends Deadlined> {
  #items: T[] = [];
  #withdrawn = 0;

  push(item: T): void {
    this.#items.push(item);
    this.#up(this.#items.length - 1);
  }

  /** Says that one item was marked `done`. */
  withdrawn(): void {
    this.#withdrawn += 1;
    if (this.#withdrawn < 64 || this.#withdrawn * 2 < this.#items.length) return;
    this.#items = this.#items.filter((item) => !item.done);
    this.#withdrawn = 0;
    for (let i = (this.#items.length >> 1) - 1; i >= 0; i--) this.#down(i);
  }

  /** The item with the earliest deadline, or undefined. */
  peek(): T | undefined {
    for (;;) {
      const top = this.#items[0];
      if (top === undefined || !top.done) return top;
      this.#removeTop();
      this.#withdrawn -= 1;
    }
  }

  #removeTop(): void {
    const last = this.#items.pop() as T;
    if (this.#items.length === 0) return;
    this.#items[0] = last;
    this.#down(0);
  }

  #up(from: number): void {
    const items = this.#items;
    const item = items[from] as T;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((items[parent] as T).deadlineNs <= item.deadlineNs) break;
      items[at] = items[parent] as T;
      at = parent;
    }
    items[at] = item;
  }

  #down(from: number): void {
    const items = this.#items;
    const item = items[from] as T;
    let at = from;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= items.length) break;
      const right = items[child + 1];
      if (right !== undefined && right.deadlineNs < (items[child] as T).deadlineNs) child += 1;
      if ((items[child] as T).deadlineNs >= item.deadlineNs) break;
      items[at] = items[child] as T;
      at = child;
    }
    items[at] = item;
  }
}
