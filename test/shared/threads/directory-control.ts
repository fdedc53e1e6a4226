import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DirectoryKeeper } from '../../../dist/shared/directory-keeper.js';
import { KeyDirectory, keyDirectoryBytes } from '../../../dist/shared/key-directory.js';
import { QuiescenceWords, quiescenceBytes } from '../../../dist/shared/quiescence.js';

export interface ClientResult {
  readonly added: number;
  readonly full: number;
  readonly moved: number;
  readonly wrong: number;
}

export interface Sizes {
  readonly capacity: number;
  readonly threads: number;
  readonly keys: number;
  /** Whether clients hold cells, which are kept then, and count calls in them. */
  readonly holds: boolean;
  /** Whether clients now and then leave the core right before a compare-and-swap. */
  readonly naps: boolean;
}

/** Byte offset in a cell, where the limiter would be: i32, threads that want it kept. */
const HOLD = 16;

/** The control thread of a directory that client threads use: removes, migrates, and looks for duplicates. */
export class DirectoryControl {
  readonly directory: KeyDirectory;
  readonly quiescence: QuiescenceWords;
  keeper: DirectoryKeeper;
  removed = 0;
  /** Calls counted in cells that were removed. */
  removedCount = 0;
  /** Keys that had two live cells at a time, which must never be. */
  duplicates = 0;
  readonly #buffer: SharedArrayBuffer;
  readonly #base: number;
  readonly #sizes: Sizes;
  readonly #control = new SharedArrayBuffer(16);
  readonly #counts: BigUint64Array;
  readonly #held: Int32Array;

  constructor(sizes: Sizes) {
    this.#sizes = sizes;
    this.#base = Math.ceil(quiescenceBytes(sizes.threads) / 64) * 64;
    this.#buffer = new SharedArrayBuffer(this.#base + keyDirectoryBytes(sizes.capacity));
    this.#counts = new BigUint64Array(this.#buffer, 0, this.#buffer.byteLength >>> 3);
    this.#held = new Int32Array(this.#buffer);
    this.directory = new KeyDirectory(this.#buffer, this.#base, sizes.capacity);
    this.quiescence = new QuiescenceWords(this.#buffer, 0, sizes.threads);
    this.keeper = this.newKeeper();
  }

  newKeeper(): DirectoryKeeper {
    this.keeper = new DirectoryKeeper(
      this.#buffer,
      this.#base,
      this.#sizes.capacity,
      this.quiescence,
    );
    return this.keeper;
  }

  async start(thread: number, seed: number): Promise<Worker> {
    const worker = new Worker(new URL('./directory-client.mjs', import.meta.url), {
      execArgv: [],
      workerData: {
        ...this.#sizes,
        buffer: this.#buffer,
        base: this.#base,
        quiescenceBase: 0,
        thread,
        control: this.#control,
        seed,
      },
    });
    await once(worker, 'message');
    return worker;
  }

  /** Tells the clients to end, and what they have to say. */
  async finish(workers: readonly Worker[]): Promise<ClientResult[]> {
    const results = workers.map((worker) => once(worker, 'message'));
    Atomics.store(new Int32Array(this.#control), 0, 1);
    const all = await Promise.all(results);
    await Promise.all(workers.map((worker) => worker.terminate()));
    return all.map(([result]) => result as ClientResult);
  }

  /**
   * One turn: every live cell is seen, some are removed, and the keeper works a little. Cells die by this thread alone, so
   * two that are seen alive in one visit were alive together.
   */
  turn(random: (below: number) => number): void {
    const keys = new Set<string>();
    const victims: number[] = [];
    this.directory.visit((index) => {
      const { space, key } = this.directory.describe(this.directory.cellAt(index));
      if (keys.has(`${space} ${key}`)) this.duplicates++;
      keys.add(`${space} ${key}`);
      if (random(8) === 0) victims.push(index);
    });
    for (const index of victims) this.#remove(index);
    const steps = random(8);
    for (let i = 0; i < steps; i++) this.keeper.maintain(1 + random(40));
  }

  #remove(index: number): void {
    const hold = (this.directory.cellAt(index) + HOLD) / 4;
    if (!this.keeper.remove(index, () => Atomics.load(this.#held, hold) > 0)) return;
    this.removed++;
    this.removedCount += Number(Atomics.load(this.#counts, this.directory.cellAt(index) / 8));
  }

  /** Compare-and-swaps of clients that another thread got in the way of. */
  lostSwaps(): number {
    return Atomics.load(new Int32Array(this.#control), 2);
  }

  /** Live cells, and the calls counted in them. */
  live(): { cells: number; counted: number } {
    let cells = 0;
    let counted = 0;
    this.directory.visit((_index, _generation, _space, count) => {
      cells++;
      counted += count;
    });
    return { cells, counted };
  }

  settle(): void {
    for (let i = 0; this.keeper.maintain() !== 'idle'; i++) {
      if (i > 10_000) throw new Error('the keeper does not come to rest');
    }
  }
}
