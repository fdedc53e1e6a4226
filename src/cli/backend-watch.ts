import type { BackendAddress } from './backend-address.js';
import {
  type BackendAnswer,
  readBackendState,
  STATE_LIMITS,
  type StateLimits,
} from './backend-state.js';
import { type ShownState, StateReader } from './shown-state.js';

/** What is known of one backend after a look at all of them. */
export interface BackendReading {
  readonly url: string;
  readonly answer: BackendAnswer;
  /** The newest state that it ever gave, also when it does not answer now. undefined: none yet. */
  readonly last: ShownState | undefined;
  /** Age of `last`, ms; 0 when it has just been read. */
  readonly ageMs: number | undefined;
}

/** Looks at all backends at once, and remembers what each said last. */
export class BackendWatch {
  readonly #backends: readonly BackendAddress[];
  readonly #limits: StateLimits;
  readonly #reader = new StateReader();
  readonly #last = new Map<string, { readonly state: ShownState; readonly atMs: number }>();
  #waiting: Promise<readonly BackendReading[]> | undefined;

  constructor(backends: readonly BackendAddress[], limits: StateLimits = STATE_LIMITS) {
    this.#backends = backends;
    this.#limits = limits;
  }

  /**
   * Never rejects. Who asks within `JOIN_MS` shares one look, which begins only then: nobody is given what was read
   * before it asked.
   */
  read(): Promise<readonly BackendReading[]> {
    this.#waiting ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#waiting = undefined;
        resolve(this.#readNow());
      }, JOIN_MS);
    });
    return this.#waiting;
  }

  #readNow(): Promise<readonly BackendReading[]> {
    return Promise.all(
      this.#backends.map(async (backend): Promise<BackendReading> => {
        const answer = await readBackendState(backend, this.#reader, this.#limits);
        const { url } = backend;
        const atMs = performance.now();
        if (answer.kind === 'up') {
          this.#last.set(url, { state: answer.state, atMs });
          return { url, answer, last: answer.state, ageMs: 0 };
        }
        const last = this.#last.get(url);
        return {
          url,
          answer,
          last: last?.state,
          ageMs: last === undefined ? undefined : atMs - last.atMs,
        };
      }),
    );
  }
}

const JOIN_MS = 2;
