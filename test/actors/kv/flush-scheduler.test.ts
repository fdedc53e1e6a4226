import { describe, expect, it } from 'vitest';
import {
  createFlushScheduler,
  type FlushSchedulerMessage,
} from '../../../src/actors/kv/flush-scheduler.js';
import { createTestSystem } from '../../../src/testing/test-system.js';

function begin(slots: number, tablets: number) {
  const { system, time, probe } = createTestSystem();
  const scheduler = system.spawn(createFlushScheduler(slots), { name: 'flushes' });
  const members = Array.from({ length: tablets }, (_, i) =>
    probe<{ readonly kind: 'run' }>(`tablet-${i}`),
  );
  const tell = (kind: FlushSchedulerMessage['kind'], i: number): void => {
    const { ref } = members[i] as (typeof members)[number];
    system.tell(scheduler, { kind, tablet: ref });
    time.settle();
  };
  const granted = (): number[] =>
    members.flatMap((member, i) => member.takeMessages().map(() => i));
  return { system, time, members, tell, granted };
}

describe('the flush scheduler', () => {
  it('has so many slots, and gives each that is free to who has waited longest', () => {
    const { tell, granted } = begin(2, 4);
    for (const i of [0, 1, 2, 3]) tell('enqueue', i);
    expect(granted()).toEqual([0, 1]);
    tell('release', 1);
    expect(granted()).toEqual([2]);
    tell('release', 0);
    expect(granted()).toEqual([3]);
  });

  it('lets a tablet that always has more wait behind every other', () => {
    const { tell, granted } = begin(1, 3);
    const order: number[] = [];
    for (const i of [0, 1, 2]) tell('enqueue', i);
    for (let turn = 0; turn < 9; turn += 1) {
      const [who] = granted();
      if (who === undefined) throw new Error('nobody has the slot');
      order.push(who);
      // As a run ends that leaves something: the next task first, then the slot.
      tell('enqueue', who);
      tell('release', who);
    }
    expect(order).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2]);
  });

  it('takes the slot, and the place, of a tablet that has ended', () => {
    const { system, time, members, tell, granted } = begin(1, 3);
    for (const i of [0, 1, 2]) tell('enqueue', i);
    expect(granted()).toEqual([0]);
    for (const i of [1, 0]) {
      const { ref } = members[i] as (typeof members)[number];
      system.stopActor(ref);
      time.settle();
    }
    expect(granted()).toEqual([2]);
  });
});
