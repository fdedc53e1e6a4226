import { describe, expect, it } from 'vitest';
import {
  BUCKET_BYTES,
  type Kernel,
  STATS,
  TakeCode,
  TIME_MASK,
} from '../../../src/shared/kernel/port.js';
import { createTwin } from '../../../src/shared/kernel/twin.js';
import { explore, type Scenario } from '../../interleaving/explorer.js';
import type { Body } from '../../interleaving/stepped-thread.js';

const BUCKET = 128;
const CELL = BUCKET + BUCKET_BYTES;
const THREADS = CELL + 256;
const MS = 1e6;
const S = 1e9;
const FOR_EVER = Number.POSITIVE_INFINITY;

/** A bucket, a cell and three threads with counters and scratch words of their own. */
class Memory {
  readonly buffer = new SharedArrayBuffer(THREADS + 3 * 128);
  readonly u64 = new BigUint64Array(this.buffer);
  readonly f64 = new Float64Array(this.buffer);
  readonly kernel: Kernel = createTwin(this.buffer);

  stats(thread: number): number {
    return THREADS + thread * 128;
  }

  scratch(thread: number): number {
    return this.stats(thread) + 64;
  }

  counted(which: number): number {
    return [0, 1, 2].reduce(
      (sum, thread) => sum + (this.f64[(this.stats(thread) + which) >>> 3] as number),
      0,
    );
  }

  timeOf(word: number): number {
    return Number((this.u64[word >>> 3] as bigint) & TIME_MASK);
  }

  /** The part of time that a reservation holds, as it is left in the scratch words of `thread`. */
  slot(thread: number): [begin: number, end: number] {
    return [this.timeOf(this.scratch(thread)), this.timeOf(this.scratch(thread) + 8)];
  }

  body(run: (kernel: Kernel) => unknown): Body {
    return (atomics) => run(createTwin(this.buffer, atomics));
  }

  configureBucket(kernel: Kernel, qps: number, burst: number, now: number, reset = 0): void {
    const interval = qps === 0 ? 0 : S / qps;
    kernel.configure(BUCKET, now, interval, interval * burst, qps, burst, reset);
  }

  take(thread: number, now: number, n = 1): Body {
    return this.body((kernel) => kernel.tryAcquire(BUCKET, this.stats(thread), now, n));
  }

  reserve(thread: number, now: number, n = 1): Body {
    return this.body((kernel) =>
      kernel.reserve(BUCKET, this.stats(thread), this.scratch(thread), now, n, FOR_EVER),
    );
  }

  giveBack(thread: number, now: number, n = 1): Body {
    return this.body((kernel) =>
      kernel.giveBack(BUCKET, this.stats(thread), this.scratch(thread), now, n),
    );
  }

  plan(thread: number, now: number): Body {
    return this.body((kernel) =>
      kernel.strictReserve(CELL, this.stats(thread), this.scratch(thread), now, FOR_EVER),
    );
  }

  unplan(thread: number): Body {
    return this.body((kernel) =>
      kernel.strictGiveBack(CELL, this.stats(thread), this.scratch(thread)),
    );
  }
}

function scenario(prepare: (memory: Memory) => Omit<Scenario, 'buffer'>): () => Scenario {
  return () => {
    const memory = new Memory();
    return { buffer: memory.buffer, ...prepare(memory) };
  };
}

const granted = (results: readonly unknown[]): number =>
  results.filter((code) => code === TakeCode.GRANTED).length;

describe('a bucket, in every order of the steps of its threads', () => {
  it('gives three takers the two permits that are there, and no third', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 10, 2, 0);
        return {
          threads: [memory.take(0, 0), memory.take(1, 0), memory.take(2, 0)],
          checkEnd(results) {
            expect(granted(results)).toBe(2);
            expect(memory.counted(STATS.DIRECT)).toBe(2);
            expect(memory.counted(STATS.REFUSED)).toBe(1);
          },
        };
      }),
    );
  });

  it('counts no time twice, in whatever order three readings of the clock take effect', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 1000, 1, 0);
        memory.kernel.tryAcquire(BUCKET, memory.stats(0), 8 * MS, 1);
        return {
          threads: [memory.take(0, 9 * MS), memory.take(1, 9.5 * MS), memory.take(2, 10 * MS)],
          // One permit a millisecond: those of 9 and 10 ms, at most.
          checkEnd: (results) => {
            expect(granted(results)).toBeGreaterThanOrEqual(1);
            expect(granted(results)).toBeLessThanOrEqual(2);
            expect(memory.kernel.available(BUCKET, 10 * MS)).toBeGreaterThanOrEqual(0);
          },
        };
      }),
    );
  });

  it('takes several permits at once or none of them', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 10, 4, 0);
        return {
          threads: [memory.take(0, 0, 3), memory.take(1, 0, 2), memory.take(2, 0, 2)],
          checkEnd(results) {
            const taken = 4 - memory.kernel.available(BUCKET, 0);
            expect(taken).toBe(memory.counted(STATS.DIRECT));
            expect([3, 4]).toContain(taken);
            expect(granted(results)).toBe(taken === 3 ? 1 : 2);
          },
        };
      }),
    );
  });

  it('gives each reservation a part of time of its own', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 10, 1, 0);
        return {
          threads: [memory.reserve(0, 0), memory.reserve(1, 0, 2), memory.reserve(2, 50 * MS)],
          checkEnd() {
            const slots = [0, 1, 2].map((thread) => memory.slot(thread)).sort(([a], [b]) => a - b);
            for (const [i, [begin]] of slots.entries())
              expect(begin).toBeGreaterThanOrEqual(slots[i - 1]?.[1] ?? 0);
          },
        };
      }),
    );
  });

  it('takes back a reservation only while nobody has reserved behind it, and then hands it out once', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 1, 1, 0);
        memory.kernel.reserve(BUCKET, memory.stats(0), memory.scratch(0), 0, 1, FOR_EVER);
        return {
          threads: [memory.giveBack(0, 0), memory.reserve(1, 0), memory.reserve(2, 0)],
          checkEnd([returned]) {
            const held = [1, 2].map((thread) => memory.slot(thread));
            if (returned === 0) held.push(memory.slot(0));
            const slots = held.sort(([a], [b]) => a - b).map(([begin]) => begin / S);
            expect(slots).toEqual(returned === 0 ? [0, 1, 2] : [0, 1]);
            expect(memory.timeOf(BUCKET) / S).toBe(slots.length);
          },
        };
      }),
    );
  });

  it('hands out no second permit when one is given back that others have meanwhile gone without', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 1, 1, 0);
        memory.kernel.hold(BUCKET, memory.stats(0), memory.scratch(0), 0, 1);
        // One second later: the permit that was held is long there again.
        return {
          threads: [memory.giveBack(0, S), memory.take(1, S), memory.take(2, S)],
          checkEnd: ([, ...taken]) => expect(granted(taken)).toBe(1),
        };
      }),
    );
  });

  it('never hands out a fresh burst, whenever its rate changes', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 10, 3, 0);
        memory.kernel.tryAcquire(BUCKET, memory.stats(0), 0, 1);
        return {
          threads: [
            memory.take(0, 0, 2),
            memory.take(1, 0),
            memory.body((kernel) => {
              memory.configureBucket(kernel, 1000, 50, 0);
              memory.configureBucket(kernel, 0.5, 3, 0);
            }),
          ],
          checkEnd: () =>
            expect(memory.kernel.available(BUCKET, 0)).toBe(3 - memory.counted(STATS.DIRECT)),
        };
      }),
    );
  });

  it('keeps every debt through changes, and gives nothing back across one', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 10, 1, 0);
        memory.kernel.reserve(BUCKET, memory.stats(0), memory.scratch(0), 0, 1, FOR_EVER);
        return {
          threads: [
            memory.giveBack(0, 0),
            memory.reserve(1, 0, 3),
            memory.body((kernel) => memory.configureBucket(kernel, 20, 1, 0)),
          ],
          checkEnd() {
            const taken = memory.counted(STATS.RESERVED) - memory.counted(STATS.RETURNED);
            expect(memory.kernel.available(BUCKET, 0)).toBe(1 - taken);
          },
        };
      }),
    );
  });

  it('is full once after a reset, whoever takes meanwhile', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 10, 1, 0);
        return {
          threads: [
            memory.take(0, 0),
            memory.take(1, 0),
            memory.body((kernel) => memory.configureBucket(kernel, 10, 1, 0, 1)),
          ],
          checkEnd(results) {
            const left = memory.kernel.available(BUCKET, 0);
            expect(granted(results) + left).toBeLessThanOrEqual(2);
            expect(granted(results) + left).toBeGreaterThanOrEqual(1);
          },
        };
      }),
    );
  });

  it('never grants too much when a thread is killed anywhere inside', () => {
    explore(
      scenario((memory) => {
        memory.configureBucket(memory.kernel, 10, 2, 0);
        memory.kernel.reserve(BUCKET, memory.stats(0), memory.scratch(0), 0, 1, FOR_EVER);
        return {
          threads: [memory.giveBack(0, 0), memory.take(1, 0), memory.reserve(2, 0)],
          mortal: [0, 1, 2],
          checkEnd() {
            const { RESERVED, DIRECT, RETURNED } = STATS;
            const taken =
              memory.counted(RESERVED) + memory.counted(DIRECT) - memory.counted(RETURNED);
            // What a killed thread took without having counted it is gone, never there twice.
            expect(memory.kernel.available(BUCKET, 0)).toBeLessThanOrEqual(2 - taken);
          },
        };
      }),
    );
  });
});

describe('a strict limiter, in every order of the steps of its threads', () => {
  it('never plans two calls closer than the interval', () => {
    explore(
      scenario((memory) => {
        memory.kernel.strictConfigure(CELL, 0, S, 1, 1);
        return {
          threads: [memory.plan(0, 0), memory.plan(1, 0.3 * S), memory.plan(2, 0.6 * S)],
          checkEnd() {
            const times = [0, 1, 2].map((thread) => memory.slot(thread)[0]).sort((a, b) => a - b);
            for (const [i, at] of times.entries())
              if (i > 0) expect(at - (times[i - 1] as number)).toBeGreaterThanOrEqual(S);
          },
        };
      }),
    );
  });

  it('hands a slot that was given back to one other call', () => {
    explore(
      scenario((memory) => {
        memory.kernel.strictConfigure(CELL, 0, S, 1, 1);
        memory.kernel.strictReserve(CELL, memory.stats(0), memory.scratch(0), 0, FOR_EVER);
        return {
          threads: [memory.unplan(0), memory.plan(1, 0), memory.plan(2, 0)],
          checkEnd([returned]) {
            const planned = [1, 2, ...(returned === 0 ? [0] : [])].map(
              (thread) => memory.slot(thread)[0] / S,
            );
            expect(planned.sort()).toEqual(returned === 0 ? [0, 1, 2] : [0, 1]);
          },
        };
      }),
    );
  });

  it('starts one new plan on a reset: no call of the old plan moves it', () => {
    explore(
      scenario((memory) => {
        memory.kernel.strictConfigure(CELL, 0, S, 1, 1);
        for (const thread of [0, 1])
          memory.kernel.strictReserve(
            CELL,
            memory.stats(thread),
            memory.scratch(thread),
            0,
            FOR_EVER,
          );
        return {
          threads: [
            memory.unplan(1),
            memory.plan(2, 0),
            memory.body((kernel) => kernel.strictConfigure(CELL, 0, S / 10, 10, 1)),
          ],
          checkEnd() {
            const epoch = (offset: number): bigint => (memory.u64[offset >>> 3] as bigint) >> 58n;
            const inNewPlan = epoch(memory.scratch(2)) === 2n;
            expect(epoch(CELL + 8)).toBe(2n);
            expect(memory.timeOf(CELL + 8)).toBe(inNewPlan ? S / 10 : 0);
          },
        };
      }),
    );
  });
});

describe('the coarse clock, in every order of the steps of its threads', () => {
  const publish = (memory: Memory, now: number): Body =>
    memory.body((kernel) => kernel.publishClock(now));

  it('only moves forward', () => {
    explore(
      scenario((memory) => {
        let last = 0;
        return {
          threads: [publish(memory, 20), publish(memory, 30), publish(memory, 10)],
          check: () => {
            last = memory.kernel.clock();
          },
          checkEnd: () => expect(last).toBe(30),
        };
      }),
    );
  });

  it('stands at 0 once the runtime is closed, whoever publishes meanwhile', () => {
    for (const before of [0, 5]) {
      explore(
        scenario((memory) => {
          memory.kernel.publishClock(before);
          return {
            threads: [
              publish(memory, 20),
              publish(memory, 30),
              memory.body((kernel) => kernel.close()),
            ],
            checkEnd: () => expect(memory.kernel.clock()).toBe(0),
          };
        }),
      );
    }
  });

  it('is taken away only by who still finds it stale', () => {
    explore(
      scenario((memory) => {
        memory.kernel.publishClock(5);
        return {
          threads: [
            publish(memory, 20),
            memory.body((kernel) => kernel.retireClock(5)),
            memory.body((kernel) => kernel.retireClock(5)),
          ],
          checkEnd: () => expect(memory.kernel.clock()).toBe(20),
        };
      }),
    );
  });
});
