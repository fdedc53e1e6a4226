/**
 * The control thread's care for pressure windows: tells the threads of one that became shorter, takes back the cells of
 * those that are over, and bounds open ones when the configuration does. It decides nothing about calls: without a control
 * thread windows open and end as before, only who waits for one that is lifted in another thread waits to its old end.
 */
import type { Arena } from '../shared/arena.js';
import type { DirectoryKeeper } from '../shared/directory-keeper.js';
import type { KeyDirectory } from '../shared/key-directory.js';
import { HEADER } from '../shared/layout.js';
import { WindowKeeper } from '../shared/pressure/window-keeper.js';
import type { Clock } from './clock.js';
import { RECORD } from './report-ring.js';

export interface WindowUpkeepParts {
  readonly arena: Arena;
  readonly clock: Clock;
  readonly directory: KeyDirectory;
  /** Of that directory. */
  readonly keeper: DirectoryKeeper;
  /** Cells were removed: the directory wants upkeep. */
  readonly onRemoved: () => void;
  /** Somebody may wait for a window that has become shorter: tell all threads. */
  readonly onEased: () => void;
}

export class WindowUpkeep {
  readonly #parts: WindowUpkeepParts;
  readonly #windows: WindowKeeper;
  /** Count of shortened windows that the threads have been told of. */
  #eased: number;
  #telling: NodeJS.Immediate | undefined;
  /** Pressure epoch of a sweep that has left no bucket: until it grows there is none. */
  #emptyAt = Number.NaN;

  constructor(parts: WindowUpkeepParts) {
    const { arena, directory, keeper } = parts;
    this.#parts = parts;
    this.#windows = new WindowKeeper({ buffer: arena.buffer, directory, keeper });
    this.#eased = this.#count();
  }

  /** A record came by a thread's ring, of whatever kind. */
  record(kind: number): void {
    if (kind === RECORD.PRESSURE_EASED) this.#tellSoon();
  }

  /** To be called now and then: finds what a full ring has dropped, and gives back what nobody needs. */
  look(): void {
    if (this.#count() !== this.#eased) this.#tellSoon();
    this.#sweep();
  }

  /** A thread has ended: it may have left a bucket that it did not announce. */
  threadEnded(): void {
    this.#emptyAt = Number.NaN;
  }

  /** Windows in force end `maxThrottleMs` from now at the latest. The threads are told by who changes the configuration. */
  shorten(maxThrottleMs: number): void {
    this.#windows.shorten(maxThrottleMs, this.#parts.clock.nowNs());
  }

  close(): void {
    clearImmediate(this.#telling);
  }

  #sweep(): void {
    const { arena, clock, onRemoved } = this.#parts;
    const epoch = Atomics.load(arena.i32, HEADER.PRESSURE_EPOCH >>> 2);
    if (epoch === this.#emptyAt) return;
    const { removed, kept } = this.#windows.sweep(clock.nowNs());
    if (kept === 0) this.#emptyAt = epoch;
    if (removed > 0) onRemoved();
  }

  /** Once for all that come in one turn. */
  #tellSoon(): void {
    this.#telling ??= setImmediate(() => {
      this.#telling = undefined;
      this.#eased = this.#count();
      this.#parts.onEased();
    });
  }

  #count(): number {
    return Atomics.load(this.#parts.arena.i32, HEADER.PRESSURE_EASED >>> 2);
  }
}
