/**
 * Who may flush: `slots` at a time, first come, first served. Pure. A member that wants another turn goes to the end, so
 * between two turns of one every other that waits has one.
 */
export interface SlotQueue<Member> {
  readonly slots: number;
  readonly waiting: readonly Member[];
  readonly running: readonly Member[];
}

export interface Granted<Member> {
  readonly queue: SlotQueue<Member>;
  /** Those whose turn it is now. */
  readonly granted: readonly Member[];
}

export function emptySlots<Member>(slots: number): SlotQueue<Member> {
  if (!Number.isInteger(slots) || slots < 1) {
    throw new RangeError(`slots must be an integer >= 1, got ${String(slots)}`);
  }
  return { slots, waiting: [], running: [] };
}

/** One that waits or has its turn already is not queued twice; what it wants meanwhile it says when its turn ends. */
export function enqueueMember<Member>(queue: SlotQueue<Member>, member: Member): Granted<Member> {
  if (queue.waiting.includes(member)) return { queue, granted: [] };
  return grant({ ...queue, waiting: [...queue.waiting, member] });
}

/** Its turn is over. */
export function releaseMember<Member>(queue: SlotQueue<Member>, member: Member): Granted<Member> {
  return grant({ ...queue, running: queue.running.filter((one) => one !== member) });
}

/** It is gone. */
export function dropMember<Member>(queue: SlotQueue<Member>, member: Member): Granted<Member> {
  const waiting = queue.waiting.filter((one) => one !== member);
  return releaseMember({ ...queue, waiting }, member);
}

function grant<Member>(queue: SlotQueue<Member>): Granted<Member> {
  const running = [...queue.running];
  const waiting: Member[] = [];
  const granted: Member[] = [];
  for (const member of queue.waiting) {
    // One turn at a time per member: its next waits for the end of this one.
    if (running.length < queue.slots && !running.includes(member)) {
      running.push(member);
      granted.push(member);
    } else waiting.push(member);
  }
  return { queue: { ...queue, running, waiting }, granted };
}
