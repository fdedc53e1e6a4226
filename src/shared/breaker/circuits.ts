/**
 * The circuits of all addresses in the arena, as one thread uses them. A healthy address has no cell: it gets one with its
 * first failure, and its circuit moves by compare-and-swap of one word, so that the failure that opens it refuses the
 * next call in every thread at once.
 *
 * Threads remember which cell an address has, or that it has none (CircuitPlace), for as long as the epoch, one word of
 * the arena, stays the same. It grows after an address has become tracked, after a circuit has opened (in case that who
 * made it tracked died before it said so), after cells were removed and before their memory is reused, and before a
 * circuit closes. The last gives each recovery a number: a call carries the epoch in which it was admitted, read before
 * the circuit was looked at, and is late if its circuit has closed in a later one.
 *
 * A cell may be removed under our hands by the control thread, which looks at its word once more when nobody can find it
 * any more. So every effect comes first and `isLive` after it: see key-directory.ts.
 */
import type { ArenaAtomics } from '../arena-atomics.js';
import type { KeyDirectory } from '../key-directory.js';
import { decideAdmission } from './admit-call.js';
import type { BreakerParams } from './breaker-params.js';
import { CircuitCells } from './circuit-cells.js';
import type { CircuitMemory } from './circuit-memory.js';
import { type CircuitPermit, CircuitPlace, type ProbePermit } from './circuit-place.js';
import { type CircuitState, HEALTHY, wholeTick } from './circuit-state.js';
import { type CircuitView, viewCircuit } from './circuit-view.js';
import { packCircuit } from './circuit-word.js';
import type { ForgottenCircuits } from './forgotten-circuits.js';
import {
  type CircuitOutcome,
  countsInWindow,
  decideSettlement,
  type SettleEffect,
} from './settle-permit.js';

/** The one key space of a directory of addresses. */
export const ADDRESS_SPACE = 0;

export interface CircuitRefusal {
  readonly kind: 'refused';
  readonly address: string;
  readonly retryAfterMs: number;
}

/** What came of a result. */
export interface Settled {
  /** `untracked`: a failure that found no room. `tracked`: the first failure of an address. */
  readonly effect: SettleEffect | 'tracked' | 'untracked';
  /** See {@link Settlement.failures}. */
  readonly failures: number;
  /** Byte offset of the cell that was looked at, 0: none. */
  readonly cell: number;
}

const NOTHING: Settled = Object.freeze({ effect: 'none', failures: 0, cell: 0 });
const NO_ROOM: Settled = Object.freeze({ effect: 'untracked', failures: 0, cell: 0 });
/** It was forgotten, and its probe with it. */
const FORGOTTEN: Settled = Object.freeze({ effect: 'late', failures: 0, cell: 0 });

export class Circuits {
  readonly #atomics: ArenaAtomics;
  readonly #i32: Int32Array;
  readonly #epochWord: number;
  readonly #directory: KeyDirectory;
  readonly #forgotten: ForgottenCircuits;
  readonly #cells: CircuitCells;
  readonly #owner: number;

  /** `memory`: this thread's own view. `owner`: place of this thread, below MAX_OWNERS. */
  constructor({ buffer, directory, forgotten, epoch, atomics }: CircuitMemory, owner: number) {
    this.#atomics = atomics;
    this.#i32 = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
    this.#epochWord = epoch >>> 2;
    this.#directory = directory;
    this.#forgotten = forgotten;
    this.#cells = new CircuitCells(buffer, atomics);
    this.#owner = owner;
  }

  /** For a canonical address. It may be kept for any time. */
  placeOf(address: string): CircuitPlace {
    const place = new CircuitPlace(address);
    this.#find(place, this.#epoch());
    return place;
  }

  /** Whether the circuit is closed and without failures. If so, `place.permit` admits a call. */
  isHealthy(place: CircuitPlace): boolean {
    const cell = this.#locate(place);
    return cell === 0 || this.#cells.isHealthy(cell);
  }

  /** Whether a call would be refused now; changes nothing. */
  refusal(place: CircuitPlace, params: BreakerParams, nowMs: number): CircuitRefusal | undefined {
    const cell = this.#locate(place);
    if (cell === 0) return undefined;
    const admission = this.#decide(cell, this.#cells.word(cell), params, nowMs);
    return admission.decision === 'open' ? refuse(place, admission.retryAfterMs) : undefined;
  }

  /** Lets a call through, or not. A probe must be settled: until its deadline the circuit refuses all others. */
  admit(place: CircuitPlace, params: BreakerParams, nowMs: number): CircuitPermit | CircuitRefusal {
    for (;;) {
      const cell = this.#locate(place);
      if (cell === 0) return place.permit;
      const word = this.#cells.word(cell);
      const admission = this.#decide(cell, word, params, nowMs);
      switch (admission.decision) {
        case 'closed':
          if (!this.#cells.isHealthy(cell)) this.#cells.touch(cell, nowMs);
          return place.permit;
        case 'open':
          return refuse(place, admission.retryAfterMs);
        case 'probe': {
          const { next: probing, replacesLost } = admission;
          this.#cells.noteOpened(cell, probing.openedAtMs);
          // Before the swap: who sees the new word sees that it is not idle.
          this.#cells.touch(cell, nowMs);
          // Claims the probe: of all who saw it due one gets it.
          if (!this.#cells.swap(cell, word, packCircuit(probing))) continue;
          if (this.#stands(place, cell)) return { kind: 'probe', place, probing, replacesLost };
        }
      }
    }
  }

  settle(
    permit: CircuitPermit,
    outcome: CircuitOutcome,
    params: BreakerParams,
    nowMs: number,
  ): Settled {
    const { place } = permit;
    if (permit.kind === 'probe') return this.#settleProbe(permit, outcome, params, nowMs);
    if (outcome === 'ignored' || (outcome === 'success' && this.isHealthy(place))) return NOTHING;
    for (;;) {
      const cell = outcome === 'failure' ? this.#locateOrInsert(place) : this.#locate(place);
      if (cell === 0) return outcome === 'failure' ? NO_ROOM : NOTHING;
      const settled = this.#move(cell, permit, outcome, params, nowMs);
      // Else it was counted in a cell that is no more.
      if (outcome === 'success' || settled.effect === 'late' || this.#stands(place, cell))
        return settled;
    }
  }

  view(place: CircuitPlace, params: BreakerParams, nowMs: number): CircuitView {
    const cell = this.#locate(place);
    if (cell === 0) return viewCircuit(HEALTHY, params, nowMs, 0);
    const state = this.#cells.stateOf(cell, this.#cells.word(cell));
    return viewCircuit(state, params, nowMs, this.#cells.salt(cell));
  }

  /** Opens it until `close`. `unchanged`: it was already. `untracked`: there is no room for one more address. */
  isolate(place: CircuitPlace, nowMs: number): 'isolated' | 'unchanged' | 'untracked' {
    for (;;) {
      const cell = this.#locateOrInsert(place);
      if (cell === 0) return 'untracked';
      const word = this.#cells.word(cell);
      if (this.#cells.stateOf(cell, word).kind === 'isolated') {
        if (this.#stands(place, cell)) return 'unchanged';
        continue;
      }
      const isolated = packCircuit({ kind: 'isolated', sinceMs: wholeTick(nowMs) });
      this.#cells.touch(cell, nowMs);
      if (!this.#cells.swap(cell, word, isolated)) continue;
      if (!this.#stands(place, cell)) continue;
      this.#beginEpoch();
      return 'isolated';
    }
  }

  /** Closes it, whatever it was; calls that are under way count no more. @returns whether there was anything to close. */
  close(place: CircuitPlace, nowMs: number): boolean {
    for (;;) {
      const cell = this.#locate(place);
      if (cell === 0) return false;
      const word = this.#cells.word(cell);
      if (this.#cells.isHealthy(cell)) return false;
      const closedEpoch = this.#beginEpoch();
      this.#cells.clearWindow(cell);
      const closed = packCircuit({ kind: 'closed', failures: 0, closedEpoch });
      this.#cells.touch(cell, nowMs);
      if (!this.#cells.swap(cell, word, closed)) continue;
      return true;
    }
  }

  #settleProbe(
    permit: ProbePermit,
    outcome: CircuitOutcome,
    params: BreakerParams,
    nowMs: number,
  ): Settled {
    const cell = this.#locate(permit.place);
    return cell === 0 ? FORGOTTEN : this.#move(cell, permit, outcome, params, nowMs);
  }

  #move(
    cell: number,
    permit: CircuitPermit,
    outcome: CircuitOutcome,
    params: BreakerParams,
    nowMs: number,
  ): Settled {
    let recorded = false;
    for (;;) {
      const word = this.#cells.word(cell);
      const state = this.#stateOf(cell, word);
      const counted = countsInWindow(state, permit, outcome, params);
      const counts = !counted
        ? undefined
        : recorded
          ? this.#cells.counts(cell, nowMs, params.windowMs)
          : this.#cells.record(cell, outcome === 'failure', nowMs, params.windowMs);
      recorded ||= counted;
      const settled = decideSettlement(state, permit, outcome, {
        nowMs,
        params,
        nextEpoch: 0,
        counts,
      });
      const { effect, failures } = settled;
      let { next } = settled;
      if (effect === 'late') return { effect, failures, cell };
      if (next.kind === 'closed' && effect === 'closed') {
        // Before it closes: a call that is admitted then is of the new epoch.
        next = { ...next, closedEpoch: this.#beginEpoch() };
        this.#cells.clearWindow(cell);
      }
      // Before the swap: who sees the new word sees that it is not idle.
      this.#cells.touch(cell, nowMs);
      if (next !== state && !this.#cells.swap(cell, word, packCircuit(next))) continue;
      const isFirst = effect === 'failed' && state.kind === 'closed' && state.failures === 0;
      // After the swap: who looks again finds it.
      if (effect === 'opened' || isFirst) this.#beginEpoch();
      return { effect: isFirst ? 'tracked' : effect, failures, cell };
    }
  }

  #decide(
    cell: number,
    word: bigint,
    params: BreakerParams,
    nowMs: number,
  ): ReturnType<typeof decideAdmission> {
    const state = this.#cells.stateOf(cell, word);
    const salt = this.#cells.salt(cell);
    return decideAdmission(state, { nowMs, params, salt, owner: this.#owner });
  }

  /** A circuit that was forgotten is known to have been open even where its new cell does not say so. */
  #stateOf(cell: number, word: bigint): CircuitState {
    const state = this.#cells.stateOf(cell, word);
    if (state.kind !== 'closed' || state.closedEpoch !== undefined) return state;
    const closedEpoch = this.#forgotten.epochOf(this.#cells.salt(cell));
    return closedEpoch === undefined ? state : { ...state, closedEpoch };
  }

  #epoch(): number {
    return this.#atomics.load(this.#i32, this.#epochWord);
  }

  /** Makes every thread look again. @returns the new epoch. */
  #beginEpoch(): number {
    return (this.#atomics.add(this.#i32, this.#epochWord, 1) + 1) | 0;
  }

  /** The cell of the address now, 0 where it has none. */
  #locate(place: CircuitPlace): number {
    const epoch = this.#epoch();
    return place.permit.epoch === epoch ? place.cell : this.#find(place, epoch);
  }

  #locateOrInsert(place: CircuitPlace): number {
    const cell = this.#locate(place);
    if (cell !== 0) return cell;
    return this.#remember(place, this.#directory.findOrInsert(ADDRESS_SPACE, place.address));
  }

  #find(place: CircuitPlace, epoch: number): number {
    place.permit = { kind: 'closed', place, epoch };
    return this.#remember(place, this.#directory.find(ADDRESS_SPACE, place.address));
  }

  #remember(place: CircuitPlace, cell: number): number {
    place.cell = cell;
    place.generation = cell === 0 ? 0 : this.#directory.generationOf(cell);
    return cell;
  }

  /** Whether what was done to a cell lasts: it is the address' cell still, or again. */
  #stands(place: CircuitPlace, cell: number): boolean {
    return this.#directory.isLive(cell) || this.#find(place, this.#epoch()) === cell;
  }
}

function refuse({ address }: CircuitPlace, retryAfterMs: number): CircuitRefusal {
  return { kind: 'refused', address, retryAfterMs };
}
