/** What stands in a heap, at most once. */
export interface Due {
  dueMs: number;
  /** Its place in the heap; -1: it is not in it. */
  heapIndex: number;
}

/** Earliest first; an entry can be moved and taken out. */
export class DueHeap<Entry extends Due> {
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  peek(): Entry | undefined {
    return this.#entries[0];
  }

  /** Puts the entry in, or moves it. */
  set(entry: Entry, dueMs: number): void {
    if (entry.heapIndex < 0) {
      entry.dueMs = dueMs;
      entry.heapIndex = this.#entries.length;
      this.#entries.push(entry);
      this.#up(entry);
      return;
    }
    if (dueMs === entry.dueMs) return;
    const isEarlier = dueMs < entry.dueMs;
    entry.dueMs = dueMs;
    if (isEarlier) this.#up(entry);
    else this.#down(entry);
  }

  remove(entry: Entry): void {
    const index = entry.heapIndex;
    if (index < 0) return;
    entry.heapIndex = -1;
    const last = this.#entries.pop() as Entry;
    if (last === entry) return;
    this.#entries[index] = last;
    last.heapIndex = index;
    this.#up(last);
    this.#down(last);
  }

  #up(entry: Entry): void {
    const entries = this.#entries;
    let at = entry.heapIndex;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = entries[parent] as Entry;
      if (above.dueMs <= entry.dueMs) break;
      entries[at] = above;
      above.heapIndex = at;
      at = parent;
    }
    entries[at] = entry;
    entry.heapIndex = at;
  }

  #down(entry: Entry): void {
    const entries = this.#entries;
    let at = entry.heapIndex;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= entries.length) break;
      const right = entries[child + 1];
      if (right !== undefined && right.dueMs < (entries[child] as Entry).dueMs) child += 1;
      const below = entries[child] as Entry;
      if (below.dueMs >= entry.dueMs) break;
      entries[at] = below;
      below.heapIndex = at;
      at = child;
    }
    entries[at] = entry;
    entry.heapIndex = at;
  }
}
