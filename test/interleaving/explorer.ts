/**
 * A bounded explorer of interleavings. It runs the real code of several threads, swaps their atomics, and tries every
 * order in which their atomic steps can take effect, and every moment at which a thread can be killed. States that it has
 * seen are not explored again, so that a few threads of some dozens of steps are explored completely; what is larger can
 * be bounded by the number of preemptions, or sampled by random schedules with a seed.
 *
 * A schedule is text: `0*3 1 k0 2*2` is three steps of thread 0, one of thread 1, the death of thread 0, two steps of
 * thread 2. The error of a failed check ends with the schedule that leads to it; `replay` runs it again.
 */
import { fingerprint, fingerprintOf } from './fingerprint.js';
import { type Body, SteppedThread, type ThreadState, type Visible } from './stepped-thread.js';

/** What is explored. Made anew for each exploration; its threads must not share anything but `buffer`. */
export interface Scenario {
  /** All memory that the threads share, as they find it. */
  readonly buffer: SharedArrayBuffer;
  readonly threads: readonly Body[];
  /** Threads that may be killed, at most one of them in a run. */
  readonly mortal?: readonly number[];
  /** Threads that begin only when another one has ended or died: thread to that other thread. */
  readonly startsAfter?: Readonly<Record<number, number>>;
  /** Scheduling points; by default every operation. */
  readonly visible?: Visible;
  /** Whether threads read plainly what others write; see stepped-thread.ts. */
  readonly plainReads?: boolean;
  /** Throws when the memory is wrong; asked after every step. */
  check?(): void;
  /** Throws when the end is wrong. The result of a killed thread is undefined. */
  checkEnd?(results: readonly unknown[]): void;
}

export interface Bounds {
  /** Times that a thread which could go on is held up for another; unbounded by default. */
  readonly preemptions?: number;
  /** States after which it gives up, as an error: a bound that cuts silently proves nothing. */
  readonly maxStates?: number;
}

export interface Explored {
  readonly states: number;
  /** Ends of different runs that were checked. */
  readonly ends: number;
}

interface RunState {
  readonly memory: Uint8Array;
  readonly threads: readonly ThreadState[];
}

type Move = { readonly kind: 'step' | 'kill'; readonly thread: number };

export class ScheduleError extends Error {
  readonly schedule: string;

  constructor(schedule: string, note: string, cause: unknown) {
    super(`${note}${cause instanceof Error ? cause.message : cause}\nschedule: '${schedule}'`, {
      cause,
    });
    this.schedule = schedule;
  }
}

/** A scenario under way. */
class Run {
  readonly #scenario: Scenario;
  readonly #memory: Uint8Array;
  readonly #words: Int32Array;
  readonly #threads: readonly SteppedThread[];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#memory = new Uint8Array(scenario.buffer);
    this.#words = new Int32Array(scenario.buffer, 0, scenario.buffer.byteLength >>> 2);
    const { buffer, visible = () => true, plainReads = false } = scenario;
    this.#threads = scenario.threads.map(
      (body) => new SteppedThread(body, buffer, visible, plainReads),
    );
  }

  save(): RunState {
    return { memory: this.#memory.slice(), threads: this.#threads.map(({ state }) => state) };
  }

  restore({ memory, threads }: RunState): void {
    this.#memory.set(memory);
    this.#threads.forEach((thread, i) => {
      thread.restore(threads[i] as ThreadState);
    });
  }

  hash(): number {
    let hash = fingerprintOf(this.#words, 1);
    for (const { state } of this.#threads) {
      hash = fingerprint(fingerprint(hash, state.next | 0), Math.floor(state.next / 4_294_967_296));
      hash = fingerprint(hash, state.status === 'running' ? 0 : state.status === 'killed' ? 1 : 2);
    }
    return hash;
  }

  moves(): Move[] {
    const running = this.#threads.flatMap((_, i) =>
      this.isRunning(i) && !this.isRunning(this.#scenario.startsAfter?.[i]) ? [i] : [],
    );
    const nobodyDied = this.#threads.every(({ state }) => state.status !== 'killed');
    const mortal = nobodyDied ? (this.#scenario.mortal ?? []) : [];
    return [
      ...running.map((thread) => ({ kind: 'step', thread }) as const),
      ...mortal
        .filter((i) => running.includes(i))
        .map((thread) => ({ kind: 'kill', thread }) as const),
    ];
  }

  make({ kind, thread }: Move): void {
    const made = this.#threads[thread];
    if (made?.state.status !== 'running') throw new Error(`thread ${thread} cannot go on`);
    if (kind === 'kill') made.kill();
    else made.step();
    this.#scenario.check?.();
  }

  /** To be called when there are no more moves. */
  end(): void {
    this.#scenario.checkEnd?.(this.#threads.map(({ state }) => state.result));
  }

  isRunning(thread: number | undefined): boolean {
    return this.#threads[thread ?? -1]?.state.status === 'running';
  }
}

/**
 * Explores all interleavings within `bounds`.
 * @throws ScheduleError when a check fails.
 */
export function explore(create: () => Scenario, bounds: Bounds = {}): Explored {
  const { preemptions = Number.POSITIVE_INFINITY, maxStates = 2_000_000 } = bounds;
  const run = new Run(create());
  const path: Move[] = [];
  /** State and last thread to the most preemptions that were left there. */
  const seen = new Map<number, number>();
  let ends = 0;

  /** `last`: the thread that made the step before. */
  const visit = (last: number, left: number): void => {
    const bounded = left !== Number.POSITIVE_INFINITY;
    const hash = bounded ? fingerprint(run.hash(), last) : run.hash();
    const before = seen.get(hash);
    if (before !== undefined && before >= left) return;
    seen.set(hash, left);
    if (seen.size > maxStates) throw new Error(`more than ${maxStates} states`);
    const moves = run.moves();
    if (moves.length === 0) {
      if (before !== undefined) return;
      ends++;
      attempt(path, () => run.end());
      return;
    }
    const state = run.save();
    for (const move of moves) {
      const preempts = move.kind === 'step' && move.thread !== last && run.isRunning(last);
      if (preempts && left === 0) continue;
      path.push(move);
      attempt(path, () => run.make(move));
      visit(move.kind === 'step' ? move.thread : last, preempts ? left - 1 : left);
      run.restore(state);
      path.pop();
    }
  };
  visit(-1, preemptions);
  return { states: seen.size, ends };
}

/**
 * Makes `runs` random runs, different for every `seed`.
 * @throws ScheduleError when a check fails; its message names the seed too.
 */
export function sample(
  create: () => Scenario,
  { runs, seed }: { runs: number; seed: number },
): void {
  let state = seed | 0;
  // mulberry32
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  for (let i = 0; i < runs; i++) {
    const run = new Run(create());
    const path: Move[] = [];
    const note = `seed ${seed}, run ${i}: `;
    let current = -1;
    for (let moves = run.moves(); moves.length > 0; moves = run.moves()) {
      // Runs of steps of one thread, of random mean length, find more than a coin for each step does.
      const goOn = moves.find(({ kind, thread }) => kind === 'step' && thread === current);
      const steps = moves.filter(({ kind }) => kind === 'step');
      const kills = random() < 0.005 ? moves.filter(({ kind }) => kind === 'kill') : [];
      const pool = kills.length > 0 ? kills : steps;
      const move =
        goOn !== undefined && kills.length === 0 && random() < 0.8
          ? goOn
          : pool[Math.floor(random() * pool.length)];
      if (move === undefined) break;
      if (move.kind === 'step') current = move.thread;
      path.push(move);
      attempt(path, () => run.make(move), note);
    }
    attempt(path, () => run.end(), note);
  }
}

/** Makes the run that a schedule describes. */
export function replay(create: () => Scenario, schedule: string): void {
  const run = new Run(create());
  for (const word of schedule.split(' ').filter((part) => part !== '')) {
    const [, kill, thread, times] = /^(k?)(\d+)(?:\*(\d+))?$/.exec(word) ?? [];
    if (thread === undefined)
      throw new TypeError(`schedule must be like '0*3 1 k0', got '${word}'`);
    for (let i = 0; i < Number(times ?? 1); i++) {
      run.make({ kind: kill === 'k' ? 'kill' : 'step', thread: Number(thread) });
    }
  }
  if (run.moves().length === 0) run.end();
}

function attempt(path: readonly Move[], action: () => void, note = ''): void {
  try {
    action();
  } catch (error) {
    throw new ScheduleError(textOf(path), note, error);
  }
}

function textOf(path: readonly Move[]): string {
  const parts: string[] = [];
  for (let i = 0; i < path.length; ) {
    const { kind, thread } = path[i] as Move;
    let n = 1;
    while (path[i + n]?.kind === kind && path[i + n]?.thread === thread) n++;
    parts.push(`${kind === 'kill' ? 'k' : ''}${thread}${n > 1 ? `*${n}` : ''}`);
    i += n;
  }
  return parts.join(' ');
}
