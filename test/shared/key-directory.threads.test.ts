import { once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DirectoryControl } from './threads/directory-control.js';

const randomFrom = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
};

describe('KeyDirectory in real threads', () => {
  it('gives 8 threads one live cell per key, and loses no call counted in a cell that is held', async () => {
    const control = new DirectoryControl({
      capacity: 128,
      threads: 8,
      keys: 64,
      holds: true,
      naps: true,
    });
    const random = randomFrom(1);
    const starts = Array.from({ length: 8 }, (_, thread) => control.start(thread, 1 + thread * 77));
    const workers = await Promise.all(starts);
    // Until the threads have really collided and keys have moved, and for 3 s at least.
    const contended = (): boolean =>
      control.lostSwaps() >= 50 && control.directory.use().migrations >= 5;
    const start = performance.now();
    const elapsed = (): number => performance.now() - start;
    while (elapsed() < 3000 || (!contended() && elapsed() < 20_000)) {
      control.turn(random);
      await setImmediate();
    }
    const results = await control.finish(workers);
    const sum = (field: keyof (typeof results)[number]): number =>
      results.reduce((total, result) => total + result[field], 0);

    expect(control.duplicates).toBe(0);
    expect(sum('wrong')).toBe(0);
    const { counted } = control.live();
    expect(control.removedCount + counted).toBe(sum('added'));
    // It was no idle test: threads were in each other's way, keys came, went and moved.
    expect(contended()).toBe(true);
    expect(sum('added')).toBeGreaterThan(1000);
    expect(control.removed).toBeGreaterThan(100);

    control.settle();
    expect(control.directory.use().used).toBe(control.live().cells);
  });

  it('survives the termination of threads anywhere in its operations', async () => {
    const threads = 4;
    const control = new DirectoryControl({
      capacity: 256,
      threads,
      keys: 300,
      holds: false,
      naps: false,
    });
    const random = randomFrom(2);
    const until = performance.now() + 15_000;
    let kills = 0;
    let turning = true;

    const killer = async (thread: number): Promise<void> => {
      while (kills < 200 && performance.now() < until) {
        const worker = await control.start(thread, 1 + random(1e6));
        for (let turns = random(4); turns > 0; turns--) await setImmediate();
        const ended = once(worker, 'exit');
        void worker.terminate();
        await ended;
        control.quiescence.leave(thread);
        kills++;
        if (kills % 10 === 0) control.newKeeper();
        else control.keeper.sweep();
      }
    };
    const turns = (async () => {
      while (turning) {
        control.turn(random);
        // The clients need the cores, too.
        await setTimeout(1);
      }
    })();
    await Promise.all(Array.from({ length: threads }, (_, thread) => killer(thread)));
    turning = false;
    await turns;

    // 200 within seconds on two free cores; a busy machine still shows something.
    expect(kills).toBeGreaterThanOrEqual(50);
    expect(control.duplicates).toBe(0);
    expect(control.directory.use().migrations).toBeGreaterThan(0);
    // Whatever the killed left behind comes back, and every place can be used.
    control.keeper.sweep();
    control.settle();
    expect(control.directory.use().used).toBe(control.live().cells);
    control.directory.visit((index) => control.keeper.remove(index, () => false));
    control.settle();
    expect(control.directory.use().used).toBe(0);
    for (let key = 0; key < 256; key++) {
      expect(control.directory.findOrInsert(0, `new ${key}`)).not.toBe(0);
    }
    expect(control.live().cells).toBe(256);
  });
});
