/**
 * The control thread's side of the circuits: forgets idle ones, makes room, frees the probes of threads that have died. A
 * removal is decided by the word that was looked at, and does not happen if that has moved meanwhile.
 */
import type { ArenaAtomics } from '../arena-atomics.js';
import type { DirectoryKeeper } from '../directory-keeper.js';
import type { KeyDirectory } from '../key-directory.js';
import { probeDeadlineMs } from './admit-call.js';
import type { BreakerParams, RetentionParams } from './breaker-params.js';
import { CircuitCells } from './circuit-cells.js';
import type { CircuitMemory } from './circuit-memory.js';
import { type HalfOpenCircuit, isEarlierEpoch } from './circuit-state.js';
import { packCircuit } from './circuit-word.js';
import type { ForgottenCircuits } from './forgotten-circuits.js';
import { evictionOrder, isEvictable, isIdle, isTracked, type KeptCircuit } from './retention.js';
import { released } from './settle-permit.js';

export interface ListedCircuit extends KeptCircuit {
  /** Of the cell in its directory. */
  readonly index: number;
  readonly word: bigint;
}

/** Half of what tells an earlier epoch from a later one. */
const OLD_EPOCHS = 2 ** 30;

export class CircuitKeeper {
  readonly #atomics: ArenaAtomics;
  readonly #i32: Int32Array;
  readonly #epochWord: number;
  readonly #directory: KeyDirectory;
  readonly #keeper: DirectoryKeeper;
  readonly #forgotten: ForgottenCircuits;
  readonly #cells: CircuitCells;

  /** `keeper`: of the directory of `memory`. */
  constructor(memory: CircuitMemory, keeper: DirectoryKeeper) {
    const { buffer, directory, forgotten, epoch, atomics } = memory;
    this.#atomics = atomics;
    this.#forgotten = forgotten;
    this.#i32 = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
    this.#epochWord = epoch >>> 2;
    this.#directory = directory;
    this.#keeper = keeper;
    this.#cells = new CircuitCells(buffer, atomics);
    // A predecessor may have removed cells without saying so.
    this.beginEpoch();
  }

  /** Changes whenever an address becomes tracked. */
  epoch(): number {
    return this.#atomics.load(this.#i32, this.#epochWord);
  }

  /** Makes every thread look its addresses up again: one that has died may have made one tracked without saying so. */
  beginEpoch(): number {
    return (this.#atomics.add(this.#i32, this.#epochWord, 1) + 1) | 0;
  }

  /** Cells that are taken, give or take those that are about to be given back. */
  size(): number {
    return this.#directory.use().used;
  }

  /** See CircuitCells. `index`: of a cell. */
  salt(index: number): number {
    return this.#cells.salt(this.#directory.cellAt(index));
  }

  /** All circuits that are kept, tracked or not. */
  list(): ListedCircuit[] {
    const listed: ListedCircuit[] = [];
    this.#directory.visit((index) => {
      const cell = this.#directory.cellAt(index);
      const word = this.#cells.word(cell);
      listed.push({
        index,
        word,
        state: this.#cells.stateOf(cell, word),
        touchedAtMs: this.#cells.touchedAtMs(cell),
        salt: this.#cells.salt(cell),
      });
    });
    return listed;
  }

  /** Addresses that something bad is known of. */
  tracked(): number {
    return this.list().filter(({ state }) => isTracked(state)).length;
  }

  /** Forgets what has been idle. @returns what was forgotten, and how many circuits are kept still. */
  sweep(
    params: BreakerParams & Pick<RetentionParams, 'idleMs'>,
    nowMs: number,
  ): { readonly forgotten: readonly ListedCircuit[]; readonly kept: number } {
    const all = this.list();
    const idle = all.filter((circuit) => isIdle(circuit, params, nowMs));
    const forgotten = this.#dropSome(idle, idle.length);
    for (const circuit of all) this.#ageEpoch(circuit);
    this.#forgotten.age((this.epoch() - OLD_EPOCHS) | 0);
    return { forgotten, kept: all.length - forgotten.length };
  }

  /** Forgets as many circuits as there are above `maxAddresses`. @returns those. */
  makeRoom(maxAddresses: number): readonly ListedCircuit[] {
    const all = this.list();
    const surplus = all.length - maxAddresses;
    if (surplus <= 0) return [];
    return this.#dropSome(all.filter(isEvictable).sort(evictionOrder), surplus);
  }

  /** Forgets everything but what somebody opened by hand. @returns what it forgot. */
  clear(): readonly ListedCircuit[] {
    const known = this.list().filter(isEvictable);
    return this.#dropSome(known, known.length);
  }

  /** The windows of failure-rate mode begin anew. */
  clearWindows(): void {
    for (const { index } of this.list()) this.#cells.clearWindow(this.#directory.cellAt(index));
  }

  /** A thread has died: the next call of each address that it was probing is the probe. @returns those circuits. */
  releaseOwned(owner: number): readonly ListedCircuit[] {
    return this.#release((state) => state.owner === owner);
  }

  /** The same for probes that have not answered in time. @returns also the next deadline, undefined: no probe is out. */
  releaseOverdue(
    params: BreakerParams,
    nowMs: number,
  ): { readonly lost: readonly ListedCircuit[]; readonly nextMs: number | undefined } {
    let nextMs: number | undefined;
    const lost = this.#release((state) => {
      const deadlineMs = probeDeadlineMs(state, params);
      if (nowMs >= deadlineMs) return true;
      nextMs = Math.min(nextMs ?? deadlineMs, deadlineMs);
      return false;
    });
    return { lost, nextMs };
  }

  #release(isLost: (state: HalfOpenCircuit) => boolean): ListedCircuit[] {
    return this.list().filter(({ index, word, state }) => {
      if (state.kind !== 'half_open' || !isLost(state)) return false;
      return this.#cells.swap(this.#directory.cellAt(index), word, packCircuit(released(state)));
    });
  }

  /** Drops the first `most` that can be dropped. */
  #dropSome(circuits: readonly ListedCircuit[], most: number): ListedCircuit[] {
    const dropped: ListedCircuit[] = [];
    for (const circuit of circuits) {
      if (dropped.length === most) break;
      if (this.#drop(circuit)) dropped.push(circuit);
    }
    // Before the memory is reused: who still knows these cells looks again.
    if (dropped.length > 0) this.beginEpoch();
    return dropped;
  }

  #drop({ index, word, state, salt, touchedAtMs }: ListedCircuit): boolean {
    // Calls of before are late for ever: of before it closed, or of before now if it has not.
    const epoch = state.kind === 'closed' ? state.closedEpoch : this.beginEpoch();
    if (epoch !== undefined) this.#forgotten.note(salt, epoch);
    return this.#keeper.remove(index, (at) => {
      const cell = this.#directory.cellAt(at);
      // It may have moved on and come back to the same word.
      return this.#cells.word(cell) !== word || this.#cells.touchedAtMs(cell) !== touchedAtMs;
    });
  }

  /** Epochs wrap. Long before a closing would look like one to come, it has none: no call of before it is left. */
  #ageEpoch({ index, word, state }: ListedCircuit): void {
    if (state.kind !== 'closed' || state.closedEpoch === undefined) return;
    if (!isEarlierEpoch((state.closedEpoch + OLD_EPOCHS) | 0, this.epoch())) return;
    const aged = packCircuit({ ...state, closedEpoch: undefined });
    this.#cells.swap(this.#directory.cellAt(index), word, aged);
  }
}
