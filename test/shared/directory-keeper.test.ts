import { describe, expect, it } from 'vitest';
import { DirectoryKeeper } from '../../src/shared/directory-keeper.js';
import { KeyDirectory, keyDirectoryBytes } from '../../src/shared/key-directory.js';
import { QuiescenceWords, quiescenceBytes } from '../../src/shared/quiescence.js';

const THREADS = 4;
const never = (): boolean => false;

class Setting {
  readonly base = 128;
  readonly buffer: SharedArrayBuffer;
  readonly quiescence: QuiescenceWords;
  readonly directory: KeyDirectory;
  keeper: DirectoryKeeper;
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.buffer = new SharedArrayBuffer(this.base + keyDirectoryBytes(capacity));
    this.quiescence = new QuiescenceWords(
      new SharedArrayBuffer(quiescenceBytes(THREADS)),
      0,
      THREADS,
    );
    this.directory = new KeyDirectory(this.buffer, this.base, capacity);
    this.keeper = this.restart();
    this.settle();
  }

  /** A new keeper, as after the death of the last. */
  restart(): DirectoryKeeper {
    this.keeper = new DirectoryKeeper(this.buffer, this.base, this.#capacity, this.quiescence);
    return this.keeper;
  }

  remove(key: string, mustKeep: (index: number) => boolean = never): boolean {
    const cell = this.directory.find(0, key);
    return this.keeper.remove(this.directory.indexOf(cell), mustKeep);
  }

  /** Maintains until there is nothing more to do. */
  settle(): void {
    for (let i = 0; i < 1000; i++) if (this.keeper.maintain() === 'idle') return;
    throw new Error('the keeper does not come to rest');
  }

  words(cell: number): Int32Array {
    return new Int32Array(this.buffer, cell, 60);
  }
}

describe('DirectoryKeeper.remove', () => {
  it('makes a key unfindable, and its cell dead', () => {
    const { directory, keeper } = new Setting(10);
    const cell = directory.findOrInsert(0, 'a');
    const generation = directory.generationOf(cell);
    expect(keeper.remove(directory.indexOf(cell), never)).toBe(true);
    expect(directory.find(0, 'a')).toBe(0);
    expect(directory.isLive(cell)).toBe(false);
    expect(directory.generationOf(cell)).not.toBe(generation);
  });

  it('gives the key another cell, never the dead one', () => {
    const setting = new Setting(10);
    const first = setting.directory.findOrInsert(0, 'a');
    setting.remove('a');
    const second = setting.directory.findOrInsert(0, 'a');
    expect(second).not.toBe(first);
    expect(setting.directory.find(0, 'a')).toBe(second);
  });

  it('leaves a cell alone that must be kept', () => {
    const setting = new Setting(10);
    const cell = setting.directory.findOrInsert(0, 'a');
    const generation = setting.directory.generationOf(cell);
    expect(setting.remove('a', () => true)).toBe(false);
    expect(setting.directory.generationOf(cell)).toBe(generation);
  });

  it('undoes the removal when it turns out in between that the cell must be kept', () => {
    const setting = new Setting(10);
    const cell = setting.directory.findOrInsert(0, 'a');
    const generation = setting.directory.generationOf(cell);
    let asked = 0;
    expect(setting.remove('a', () => ++asked === 2)).toBe(false);
    expect(setting.directory.isLive(cell)).toBe(true);
    // What others remember of it is void; they look it up again and find the same cell.
    expect(setting.directory.generationOf(cell)).not.toBe(generation);
    expect(setting.directory.findOrInsert(0, 'a')).toBe(cell);
  });

  it('gives way to a thread that finds the cell in between', () => {
    const setting = new Setting(10);
    const cell = setting.directory.findOrInsert(0, 'a');
    let asked = 0;
    const found = (): boolean => {
      if (++asked === 2) expect(setting.directory.findOrInsert(0, 'a')).toBe(cell);
      return false;
    };
    expect(setting.remove('a', found)).toBe(false);
    expect(setting.directory.isLive(cell)).toBe(true);
  });

  it('says no to a cell that is not live', () => {
    const setting = new Setting(10);
    expect(setting.keeper.remove(0, never)).toBe(false);
    setting.directory.findOrInsert(0, 'a');
    setting.remove('a');
    expect(setting.keeper.remove(0, never)).toBe(false);
  });
});

describe('DirectoryKeeper.maintain', () => {
  it('gives removed cells back only after every thread has passed a quiescent point', () => {
    const setting = new Setting(3);
    const { directory, quiescence, keeper } = setting;
    quiescence.pass(0);
    quiescence.pass(1);
    for (const key of ['a', 'b', 'c']) directory.findOrInsert(0, key);
    setting.remove('b');
    for (let i = 0; i < 10; i++) keeper.maintain();
    quiescence.pass(0);
    for (let i = 0; i < 10; i++) expect(keeper.maintain()).toBe('waiting');
    expect(directory.findOrInsert(0, 'd')).toBe(0);
    quiescence.pass(1);
    setting.settle();
    expect(directory.findOrInsert(0, 'd')).not.toBe(0);
    expect(directory.use()).toMatchObject({ used: 3, overflow: 1 });
  });

  it('hands a reused cell on without count, limiter words or old generation', () => {
    const setting = new Setting(1);
    const cell = setting.directory.findOrInsert(0, 'a'.repeat(128));
    const generation = setting.directory.generationOf(cell);
    setting.words(cell).fill(-1, 0, 20);
    setting.remove('a'.repeat(128));
    setting.settle();
    expect(setting.directory.findOrInsert(7, 'b')).toBe(cell);
    expect([...setting.words(cell).subarray(0, 21)]).toEqual(new Array(21).fill(0));
    expect(setting.directory.generationOf(cell)).not.toBe(generation);
    expect(setting.directory.describe(cell)).toEqual({ space: 7, key: 'b', hashed: false });
  });

  it('has nothing to do when nothing has changed', () => {
    const setting = new Setting(100);
    setting.directory.findOrInsert(0, 'a');
    expect(setting.keeper.maintain()).toBe('idle');
  });

  it('migrates when slots have died, and cells stay where they are', () => {
    const setting = new Setting(64);
    const { directory } = setting;
    const kept = Array.from({ length: 32 }, (_, i) => directory.findOrInsert(0, `kept ${i}`));
    for (let round = 0; directory.use().migrations < 5; round++) {
      expect(round).toBeLessThan(100);
      for (let i = 0; i < 32; i++) directory.findOrInsert(0, `${round}/${i}`);
      for (let i = 0; i < 32; i++) expect(setting.remove(`${round}/${i}`)).toBe(true);
      setting.settle();
      expect(kept.map((_, i) => directory.find(0, `kept ${i}`))).toEqual(kept);
      expect(kept.every((cell) => directory.isLive(cell))).toBe(true);
    }
    expect(directory.use()).toMatchObject({ used: 32, overflow: 0 });
  });

  it('finds, inserts and removes at every step of a migration', () => {
    for (let steps = 0; steps < 70; steps++) {
      const setting = new Setting(32);
      const { directory, keeper } = setting;
      const cells = new Map<string, number>();
      for (let i = 0; i < 16; i++) cells.set(`${i}`, directory.findOrInsert(0, `${i}`));
      keeper.migrate();
      for (let i = 0; i < steps; i++) keeper.maintain(1);
      expect(setting.remove('3')).toBe(true);
      cells.set('3', directory.findOrInsert(0, '3'));
      for (let i = 16; i < 24; i++) cells.set(`${i}`, directory.findOrInsert(0, `${i}`));
      setting.settle();
      for (const [key, cell] of cells) expect(directory.findOrInsert(0, key)).toBe(cell);
      let live = 0;
      directory.visit(() => live++);
      expect(live).toBe(cells.size);
      expect(directory.use()).toMatchObject({ used: 24, migrations: 1 });
    }
  });

  it('is continued by a successor from any step of a migration', () => {
    for (let steps = 0; steps < 150; steps++) {
      const setting = new Setting(32);
      const { directory, quiescence } = setting;
      quiescence.pass(0);
      const cells = Array.from({ length: 16 }, (_, i) => directory.findOrInsert(0, `${i}`));
      setting.keeper.migrate();
      for (let i = 0; i < steps; i++) {
        setting.keeper.maintain(1);
        if (i > 70) quiescence.pass(0);
      }
      setting.restart().migrate();
      const late = directory.findOrInsert(0, 'late');
      for (let i = 0; i < 10; i++) {
        setting.keeper.maintain();
        quiescence.pass(0);
      }
      setting.settle();
      expect(cells.map((_, i) => directory.find(0, `${i}`))).toEqual(cells);
      expect(directory.find(0, 'late')).toBe(late);
      expect(directory.use().used).toBe(17);
    }
  });

  it('lets no table overflow however fast keys come and go', () => {
    const setting = new Setting(40);
    for (let key = 0; key < 5000; key++) {
      expect(setting.directory.findOrInsert(0, `${key}`)).not.toBe(0);
      if (key >= 20) expect(setting.remove(`${key - 20}`)).toBe(true);
      setting.keeper.maintain();
      setting.keeper.maintain();
    }
    expect(setting.directory.use().overflow).toBe(0);
  });

  it('does not need more than its bytes', () => {
    const setting = new Setting(5);
    const before = new Uint8Array(setting.buffer, 0, setting.base).slice();
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 5; i++) setting.directory.findOrInsert(0, `${round} ${i}`);
      for (let i = 0; i < 5; i++) setting.remove(`${round} ${i}`);
      setting.settle();
    }
    expect(new Uint8Array(setting.buffer, 0, setting.base)).toEqual(before);
    expect(setting.directory.use()).toMatchObject({ used: 0, overflow: 0 });
  });
});
