/**
 * The control thread's side of the key directory: removal, migration, reclaiming. One keeper at a time. It can be killed
 * between any two steps: everything that its successor must know is in the arena, and each step may be done again.
 *
 * - Killed in `remove`: a condemned cell comes alive when it is next found, or by the sweep; a dead one that is still in a
 *   table is walked over by everybody, and the sweep buries it.
 * - Killed while migrating: the phase word says so, and the copy begins anew: sealed slots stay sealed, cells that the
 *   other table has are not entered twice, dead cells are not entered at all.
 * - Killed after the flip: the old table counts as dirty until a quiescent point that the successor itself requests.
 *
 * No table overflows: a cell is given back only while few slots are dead, and never while a migration is under way, so a
 * table holds at most one entry per cell and as many dead ones as `#deadLimit`.
 */
import type { ArenaAtomics } from './arena-atomics.js';
import { CELL_STATE, condemned, dead, isLive, revived, stateOf } from './directory/cell-life.js';
import { DirectoryArena } from './directory/directory-arena.js';
import { firstTable, nextPhase, phaseOf } from './directory/directory-phase.js';
import { CellReclaimer } from './directory/reclaim.js';
import { SLOT_EMPTY, SLOT_SEALED, SLOT_TOMBSTONE } from './directory/slot-table.js';
import type { Quiescence } from './quiescence.js';

/** Slots or cells that one `maintain` works through: about a millisecond. */
const DEFAULT_BUDGET = 8192;

/** What a keeper has to do. `waiting`: nothing, until the attached threads have passed a quiescent point. */
export type Upkeep = 'idle' | 'working' | 'waiting';

export class DirectoryKeeper {
  readonly #arena: DirectoryArena;
  readonly #quiescence: Quiescence;
  readonly #reclaimer: CellReclaimer;
  /** Tombstones beyond which a table is left behind: half of the slots that live cells can never fill. */
  readonly #deadLimit: number;
  /** Next slot to copy or to clear. */
  #cursor = 0;
  /** After which the dirty table may be cleared. */
  #clearEpoch: number | undefined;
  /** Next cell of the sweep. A new keeper sweeps: it may be the successor of a killed one. */
  #sweepAt: number | undefined = 0;
  #migrationWanted = false;

  /** `base` and `capacity` as for the `KeyDirectory`. */
  constructor(
    buffer: SharedArrayBuffer,
    base: number,
    capacity: number,
    quiescence: Quiescence,
    atomics: ArenaAtomics = Atomics,
  ) {
    this.#arena = new DirectoryArena(buffer, base, capacity, atomics);
    this.#quiescence = quiescence;
    this.#reclaimer = new CellReclaimer(this.#arena, quiescence, (index) => this.#published(index));
    this.#deadLimit = Math.floor((this.#arena.layout.slots - capacity) / 2);
  }

  /**
   * Removes a live cell, unless `mustKeep` says so, which is asked before and after the cell has become
   * unfindable: what another thread does to a cell that it still finds live, `mustKeep` must see the second time.
   * @returns whether it was removed. Its memory is reused later.
   */
  remove(index: number, mustKeep: (index: number) => boolean): boolean {
    const live = this.#arena.generation(index);
    if (!isLive(live) || mustKeep(index)) return false;
    const verdict = condemned(live);
    // From here on whoever wants the cell must revive it.
    if (!this.#arena.swapGeneration(index, live, verdict)) return false;
    if (mustKeep(index)) {
      this.#arena.swapGeneration(index, verdict, revived(verdict));
      return false;
    }
    // Final. Fails when a finder has revived it.
    if (!this.#arena.swapGeneration(index, verdict, dead(verdict))) return false;
    this.#bury(index);
    this.#reclaimer.note(index, this.#arena.pool.claimOf(index));
    return true;
  }

  /** A thread has died: looks for the cell that it may have leaked. */
  sweep(): void {
    this.#sweepAt = 0;
  }

  /** Migrates at the next opportunity even if few slots are dead. */
  migrate(): void {
    this.#migrationWanted = true;
  }

  /** One bounded piece of work, at most `budget` slots and cells. Call it again soon when it is not `idle`. */
  maintain(budget: number = DEFAULT_BUDGET): Upkeep {
    const phase = phaseOf(this.#arena.phase());
    if (phase === 'migrating') {
      this.#copy(budget);
      return 'working';
    }
    if (this.#sweepAt !== undefined) {
      this.#sweepSome(this.#sweepAt, budget);
      return 'working';
    }
    if (phase === 'clean' && (this.#migrationWanted || this.#crowded())) {
      this.#migrationWanted = false;
      this.#enterPhase();
      return 'working';
    }
    const clearing = phase === 'dirty' && this.#clear(budget);
    const reclaiming = !this.#crowded() && this.#reclaimer.step(budget);
    if (clearing) return 'working';
    return reclaiming || phase === 'dirty' ? 'waiting' : 'idle';
  }

  /** The tables in which threads may find cells: both only while keys move. */
  #tablesInUse(): readonly number[] {
    const word = this.#arena.phase();
    return phaseOf(word) === 'migrating' ? [0, 1] : [firstTable(word)];
  }

  #published(index: number): boolean {
    const hash = this.#arena.hash(index);
    const { tables } = this.#arena;
    return this.#tablesInUse().some((which) => tables[which as 0 | 1].slotOf(hash, index) >= 0);
  }

  #bury(index: number): void {
    const { atomics, words, tables, layout } = this.#arena;
    const hash = this.#arena.hash(index);
    for (const which of this.#tablesInUse()) {
      const table = tables[which as 0 | 1];
      const slot = table.slotOf(hash, index);
      if (slot < 0) continue;
      // Counted first: killed in between, the table looks fuller than it is, never emptier.
      atomics.add(words, layout.dead + which, 1);
      table.bury(slot);
    }
  }

  #crowded(): boolean {
    const { atomics, words, layout } = this.#arena;
    return atomics.load(words, layout.dead + firstTable(this.#arena.phase())) > this.#deadLimit;
  }

  #enterPhase(): void {
    const { atomics, words, layout } = this.#arena;
    this.#cursor = 0;
    this.#clearEpoch = undefined;
    atomics.store(words, layout.phase, nextPhase(this.#arena.phase()));
  }

  #copy(budget: number): void {
    const { atomics, words, layout, tables } = this.#arena;
    const first = firstTable(this.#arena.phase()) as 0 | 1;
    const source = tables[first];
    const target = tables[first === 0 ? 1 : 0];
    const end = Math.min(source.slots, this.#cursor + budget);
    for (; this.#cursor < end; this.#cursor++) {
      let entry = source.entry(this.#cursor);
      if (entry === SLOT_EMPTY) {
        if (source.seal(this.#cursor)) continue;
        entry = source.entry(this.#cursor);
      }
      if (entry === SLOT_SEALED || entry === SLOT_TOMBSTONE) continue;
      const index = entry - 1;
      if (this.#arena.use(index)) target.ensure(this.#arena.hash(index), index);
    }
    if (this.#cursor < source.slots) return;
    atomics.add(words, layout.migrations, 1);
    this.#enterPhase();
    this.sweep();
  }

  /** @returns whether it did something. */
  #clear(budget: number): boolean {
    const { atomics, words, layout, tables } = this.#arena;
    this.#clearEpoch ??= this.#quiescence.request();
    if (!this.#quiescence.passed(this.#clearEpoch)) return false;
    const old = firstTable(this.#arena.phase()) === 0 ? 1 : 0;
    const end = Math.min(layout.slots, this.#cursor + budget);
    tables[old].clear(this.#cursor, end);
    this.#cursor = end;
    if (end === layout.slots) {
      atomics.store(words, layout.dead + old, 0);
      this.#enterPhase();
    }
    return true;
  }

  #sweepSome(from: number, budget: number): void {
    const { layout, pool } = this.#arena;
    const end = Math.min(layout.capacity, from + budget);
    for (let index = from; index < end; index++) {
      const claim = pool.claimOf(index);
      if ((claim & 1) === 0) continue;
      const state = stateOf(this.#arena.generation(index));
      if (state === CELL_STATE.LIVE) continue;
      if (
        state === CELL_STATE.CONDEMNED ||
        (state === CELL_STATE.FRESH && this.#published(index))
      ) {
        this.#arena.use(index);
        continue;
      }
      if (state === CELL_STATE.DEAD) this.#bury(index);
      this.#reclaimer.note(index, claim);
    }
    this.#sweepAt = end < layout.capacity ? end : undefined;
    // A release may have been cut short before it said so.
    if (this.#sweepAt === undefined) pool.noteRelease();
  }
}
