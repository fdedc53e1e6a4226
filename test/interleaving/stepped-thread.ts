/**
 * One thread of an explored run: real code whose atomic operations take effect one at a time, when the explorer says so.
 *
 * There is no real thread. To make its next step, the code runs again from its beginning; the operations that it has
 * already made are answered from a log and touch nothing, the next one is real, and the one after it ends the run. So the
 * state of a thread is its log, and can be saved, restored and compared. Plain writes belong to the atomic operation
 * before them, and are undone when they are repeated. Plain reads do too, but what is repeated reads the memory of today;
 * code that reads plainly what other threads write asks for `plainReads`, and the log keeps the memory of each moment.
 * Two states in which a thread made the same operations with the same operands and answers, and is about to make the same,
 * count as one, so what it read plainly must show in the next operation. The code must be synchronous and keep its own state within the body.
 */
import { fingerprint } from './fingerprint.js';

type Words = Int32Array | Uint32Array | BigInt64Array | BigUint64Array;
type Value = number | bigint;
type Name = 'load' | 'store' | 'add' | 'sub' | 'and' | 'or' | 'exchange' | 'compareExchange';

/** The part of `Atomics` that explored code may use. */
export type SteppedAtomics = Pick<typeof Atomics, Name>;

export type Body = (atomics: SteppedAtomics) => unknown;

/** Which operations are scheduling points. The others happen together with the one before them. */
export type Visible = (words: Words, index: number) => boolean;

interface Operation {
  readonly name: Name;
  readonly byte: number;
  readonly operands: readonly Value[];
  readonly answer: Value;
  /** Right after the operation, for plain reads. */
  readonly memory: Uint8Array | undefined;
}

export interface ThreadState {
  readonly operations: number;
  /** Of the operations made. */
  readonly hash: number;
  /** Of these and the one to come. */
  readonly next: number;
  readonly status: 'running' | 'finished' | 'killed';
  readonly result: unknown;
}

/** Ends a run of the body at an operation whose turn has not come. No code may catch it. No Error: its stack costs more
 * than the run. */
class NotYet {}

export class SteppedThread {
  readonly #body: Body;
  readonly #memory: Uint8Array;
  readonly #visible: Visible;
  readonly #plainReads: boolean;
  readonly #log: Operation[] = [];
  #state: ThreadState = { operations: 0, hash: 1, next: 1, status: 'running', result: undefined };

  constructor(body: Body, buffer: SharedArrayBuffer, visible: Visible, plainReads: boolean) {
    this.#body = body;
    this.#memory = new Uint8Array(buffer);
    this.#visible = visible;
    this.#plainReads = plainReads;
    this.#run(false);
  }

  get state(): ThreadState {
    return this.#state;
  }

  /** Goes back to a state that this thread was in earlier on the same path. */
  restore(state: ThreadState): void {
    this.#state = state;
  }

  kill(): void {
    this.#state = { ...this.#state, status: 'killed' };
  }

  /** Makes the next visible operation, and what follows it up to the next one. */
  step(): void {
    this.#run(true);
  }

  #run(stepping: boolean): void {
    this.#log.length = this.#state.operations;
    const replayed = this.#log.length;
    const before = this.#memory.slice();
    let made = 0;
    let mayStep = stepping;
    let pending: readonly Value[] = [];
    const perform = (name: Name, words: Words, index: number, operands: Value[]): Value => {
      const byte = words.byteOffset + index * words.BYTES_PER_ELEMENT;
      if (made < replayed) return this.#repeat(made++, name, byte, operands);
      if (this.#visible(words, index) || (made === replayed && stepping)) {
        if (!mayStep) {
          pending = operands;
          throw new NotYet();
        }
        mayStep = false;
        this.#memory.set(before);
      }
      const operation = Atomics[name] as (words: Words, index: number, ...rest: Value[]) => Value;
      const answer = operation(words, index, ...operands);
      const memory = this.#plainReads ? this.#memory.slice() : undefined;
      this.#log.push({ name, byte, operands, answer, memory });
      made++;
      return answer;
    };
    const status = this.#finish(() => this.#body(atomicsOf(perform)));
    let { hash } = this.#state;
    for (const { answer, operands } of this.#log.slice(replayed)) {
      hash = operands.reduce<number>(fingerprint, fingerprint(hash, answer));
    }
    const next = pending.reduce<number>(fingerprint, hash);
    this.#state = { operations: this.#log.length, hash, next, ...status };
  }

  #finish(run: () => unknown): Pick<ThreadState, 'status' | 'result'> {
    try {
      return { status: 'finished', result: run() };
    } catch (error) {
      if (error instanceof NotYet) return { status: 'running', result: undefined };
      throw error;
    }
  }

  #repeat(at: number, name: Name, byte: number, operands: readonly Value[]): Value {
    const logged = this.#log[at] as Operation;
    const same =
      logged.name === name &&
      logged.byte === byte &&
      logged.operands.every((operand, i) => operand === operands[i]);
    if (!same) {
      throw new Error(
        `not deterministic: operation ${at} was ${logged.name} at byte ${logged.byte}, is now ${name} at ${byte}`,
      );
    }
    if (logged.memory !== undefined) this.#memory.set(logged.memory);
    return logged.answer;
  }
}

function atomicsOf(
  perform: (name: Name, words: Words, index: number, operands: Value[]) => Value,
): SteppedAtomics {
  const operation =
    (name: Name) =>
    (words: Words, index: number, ...operands: Value[]): Value =>
      perform(name, words, index, operands);
  return {
    load: operation('load'),
    store: operation('store'),
    add: operation('add'),
    sub: operation('sub'),
    and: operation('and'),
    or: operation('or'),
    exchange: operation('exchange'),
    compareExchange: operation('compareExchange'),
  } as SteppedAtomics;
}
