/**
 * Hierarchical timing wheel (Varghese and Lauck, 1987): 11 levels of 32 slots count 55 bits of ticks, so that any
 * deadline up to 2^53 has a place. Level 0 is one tick a slot; a timer further away sits in a coarser slot and moves
 * down when time reaches that slot. Pure: it knows ticks, not time.
 *
 * Invariant: a timer at level L differs from `now` first in digit L (base 32), and is in slot `digit L` of that level.
 * Hence slots of level L at or behind the present digit L are empty.
 *
 * Costs: `schedule` and `cancel` O(1) (11 levels at most), `advance` O(1) amortised per timer, whatever the number of ticks.
 */

const LEVELS = 11;
const SLOT_BITS = 5;
const SLOTS = 1 << SLOT_BITS;

/** Latest deadline: beyond it, doubles skip integers. */
export const MAX_TICK: number = Number.MAX_SAFE_INTEGER;

/** A timer in the wheel, to cancel it by. */
export interface WheelTimer<Payload> {
  readonly deadline: number;
  readonly payload: Payload;
}

interface Node<Payload> extends WheelTimer<Payload> {
  /** Order of scheduling: timers of one tick fire in it. */
  readonly sequence: number;
  slot: Slot<Payload> | undefined;
  previous: Node<Payload> | undefined;
  next: Node<Payload> | undefined;
}

interface Slot<Payload> {
  readonly level: number;
  readonly index: number;
  first: Node<Payload> | undefined;
  /** No timer in the slot is earlier. Cancelling does not raise it. */
  earliest: number;
}

export class TimingWheel<Payload> {
  #now: number;
  #size = 0;
  #sequence = 0;
  readonly #slots: Slot<Payload>[] = [];
  /** Per level, a bit for every slot that is not empty. */
  readonly #occupied = new Int32Array(LEVELS);
  /** Timers whose deadline had passed when they came. */
  readonly #overdue: Slot<Payload> = newSlot(-1, 0);

  /** Begins at tick `now`, an integer from 0 to 2^53 - 1. */
  constructor(now = 0) {
    this.#now = checkedTick('now', now);
    for (let level = 0; level < LEVELS; level += 1) {
      for (let index = 0; index < SLOTS; index += 1) this.#slots.push(newSlot(level, index));
    }
  }

  /** Ticks that have passed. */
  get now(): number {
    return this.#now;
  }

  /** Timers that wait. */
  get size(): number {
    return this.#size;
  }

  /** A deadline at or before `now` fires at the next `advance`, even of 0 ticks. */
  schedule(deadline: number, payload: Payload): WheelTimer<Payload> {
    const node: Node<Payload> = {
      deadline: checkedTick('deadline', deadline),
      payload,
      sequence: this.#sequence++,
      slot: undefined,
      previous: undefined,
      next: undefined,
    };
    this.#size += 1;
    this.#place(node);
    return node;
  }

  /** Whether the timer was still waiting. */
  cancel(timer: WheelTimer<Payload>): boolean {
    const node = timer as Node<Payload>;
    const slot = node.slot;
    if (slot === undefined) return false;
    if (node.previous === undefined) slot.first = node.next;
    else node.previous.next = node.next;
    if (node.next !== undefined) node.next.previous = node.previous;
    node.slot = undefined;
    node.previous = undefined;
    node.next = undefined;
    if (slot.first === undefined) this.#vacate(slot);
    this.#size -= 1;
    return true;
  }

  /**
   * The tick to advance to for the next timer, undefined when none waits. Exact, except that after a cancellation it may
   * be too early; never too late.
   */
  nextDeadline(): number | undefined {
    if (this.#overdue.first !== undefined) return this.#now;
    // A finer level holds only deadlines before those of any coarser one.
    const slot = this.#firstSlot();
    return slot?.earliest;
  }

  /** Lets `ticks` (an integer >= 0) pass and returns what came due, in order of deadline, then of scheduling. */
  advance(ticks: number): Payload[] {
    if (!Number.isInteger(ticks) || ticks < 0) {
      throw new RangeError(`ticks must be an integer >= 0, got ${String(ticks)}`);
    }
    const target = Math.min(this.#now + ticks, MAX_TICK);
    const due = this.#take(this.#overdue).sort(inOrder);
    for (;;) {
      const slot = this.#firstSlot();
      if (slot === undefined) break;
      const startsAt = this.#startOf(slot);
      if (startsAt > target) break;
      this.#now = startsAt;
      const nodes = this.#take(slot);
      if (slot.level === 0) {
        if (nodes.length > 1) nodes.sort(inOrder);
        for (const node of nodes) due.push(node);
      } else {
        // Those due at this very tick go to level 0's present slot, which the next round takes.
        for (const node of nodes) this.#place(node);
      }
    }
    this.#now = target;
    this.#size -= due.length;
    return due.map((node) => node.payload);
  }

  #place(node: Node<Payload>): void {
    const slot = node.deadline < this.#now ? this.#overdue : this.#slotFor(node.deadline);
    node.slot = slot;
    node.previous = undefined;
    node.next = slot.first;
    if (slot.first !== undefined) slot.first.previous = node;
    slot.earliest =
      slot.first === undefined ? node.deadline : Math.min(slot.earliest, node.deadline);
    slot.first = node;
    if (slot.level >= 0) {
      this.#occupied[slot.level] = (this.#occupied[slot.level] as number) | (1 << slot.index);
    }
  }

  #slotFor(deadline: number): Slot<Payload> {
    let level = 0;
    let ahead = deadline;
    let here = this.#now;
    // Strip digits until only one differs: that digit's level is the timer's.
    while (Math.floor(ahead / SLOTS) !== Math.floor(here / SLOTS)) {
      ahead = Math.floor(ahead / SLOTS);
      here = Math.floor(here / SLOTS);
      level += 1;
    }
    return this.#slots[level * SLOTS + (ahead % SLOTS)] as Slot<Payload>;
  }

  /** The occupied slot that time reaches first. */
  #firstSlot(): Slot<Payload> | undefined {
    for (let level = 0; level < LEVELS; level += 1) {
      const occupied = this.#occupied[level] as number;
      if (occupied === 0) continue;
      const index = 31 - Math.clz32(occupied & -occupied);
      return this.#slots[level * SLOTS + index];
    }
    return undefined;
  }

  #startOf(slot: Slot<Payload>): number {
    const width = SLOTS ** slot.level;
    const round = width * SLOTS;
    return Math.max(this.#now, Math.floor(this.#now / round) * round + slot.index * width);
  }

  #take(slot: Slot<Payload>): Node<Payload>[] {
    const nodes: Node<Payload>[] = [];
    for (let node = slot.first; node !== undefined; ) {
      const next: Node<Payload> | undefined = node.next;
      node.slot = undefined;
      node.previous = undefined;
      node.next = undefined;
      nodes.push(node);
      node = next;
    }
    slot.first = undefined;
    this.#vacate(slot);
    return nodes;
  }

  #vacate(slot: Slot<Payload>): void {
    slot.earliest = Number.POSITIVE_INFINITY;
    if (slot.level >= 0) {
      this.#occupied[slot.level] = (this.#occupied[slot.level] as number) & ~(1 << slot.index);
    }
  }
}

function newSlot<Payload>(level: number, index: number): Slot<Payload> {
  return { level, index, first: undefined, earliest: Number.POSITIVE_INFINITY };
}

function inOrder(a: Node<unknown>, b: Node<unknown>): number {
  return a.deadline - b.deadline || a.sequence - b.sequence;
}

function checkedTick(name: string, tick: number): number {
  if (!Number.isInteger(tick) || tick < 0 || tick > MAX_TICK) {
    throw new RangeError(`${name} must be an integer from 0 to ${MAX_TICK}, got ${String(tick)}`);
  }
  return tick;
}
