import { type Phase, peerCount, phases } from './peers-scenario.js';

export const boardFields = ['reads', 'byPeer', 'byFallback', 'wrong'] as const;
export type BoardField = (typeof boardFields)[number];

const perPhase = boardFields.length + peerCount;
/** Before the counts: the phase that it is, -1 for none; whether to stop; reads under way; threads that are ready. */
const headWords = 4;

/** What all threads count, by phase, and what phase it is. */
export class PhaseBoard {
  readonly #words: Int32Array;

  constructor(words: SharedArrayBuffer) {
    this.#words = new Int32Array(words);
  }

  static allocate(): SharedArrayBuffer {
    const words = new SharedArrayBuffer((headWords + phases.length * perPhase) * 4);
    Atomics.store(new Int32Array(words), 0, -1);
    return words;
  }

  get phase(): Phase | undefined {
    return phases[Atomics.load(this.#words, 0)];
  }

  begin(phase: Phase): void {
    Atomics.store(this.#words, 0, phases.indexOf(phase));
  }

  /** Nobody begins a read until the next phase. */
  pause(): void {
    Atomics.store(this.#words, 0, -1);
  }

  /** Reads under way in all threads. */
  get active(): number {
    return Atomics.load(this.#words, 2);
  }

  addActive(change: 1 | -1): void {
    Atomics.add(this.#words, 2, change);
  }

  /** Threads that have said that they are ready to read. */
  get ready(): number {
    return Atomics.load(this.#words, 3);
  }

  markReady(): void {
    Atomics.add(this.#words, 3, 1);
  }

  get stopped(): boolean {
    return Atomics.load(this.#words, 1) !== 0;
  }

  stop(): void {
    Atomics.store(this.#words, 1, 1);
  }

  add(phase: Phase, field: BoardField): void {
    Atomics.add(this.#words, at(phase) + boardFields.indexOf(field), 1);
  }

  addAttempt(phase: Phase, peer: number): void {
    Atomics.add(this.#words, at(phase) + boardFields.length + peer, 1);
  }

  count(phase: Phase, field: BoardField): number {
    return Atomics.load(this.#words, at(phase) + boardFields.indexOf(field));
  }

  attempts(phase: Phase): number[] {
    return Array.from({ length: peerCount }, (_, peer) =>
      Atomics.load(this.#words, at(phase) + boardFields.length + peer),
    );
  }
}

function at(phase: Phase): number {
  return headWords + phases.indexOf(phase) * perPhase;
}
