import type { TimerDriver } from '../actors/core/timer-driver.js';
import { RunawayError } from './runaway-error.js';

export interface VirtualTimeOptions {
  /** Where the clock begins, ms. Default 0. */
  readonly startMs?: number;
  /** Scheduled runs and timers of one instant after which it is a runaway, an integer >= 1. Default 1000. */
  readonly maxRunsPerInstant?: number;
}

interface VirtualTimer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly run: () => void;
}

/** Microtask turns without new work after which promises are taken to have settled. */
const QUIET_TURNS = 16;

/** See {@link VirtualTime}. */
export function createVirtualTime(options?: VirtualTimeOptions): VirtualTime {
  return new VirtualTime(options);
}

/**
 * A clock that stands still until it is told to move. Moving it visits every deadline in order and, at each, lets
 * everything that is due or queued run to quiescence before time goes on. Give `clock`, `schedule` and a
 * `createTimerDriver()` to `createActorSystem`; nothing sleeps, whatever the delays.
 */
export class VirtualTime {
  readonly #maxRunsPerInstant: number;
  readonly #runs: (() => void)[] = [];
  readonly #timers = new Set<VirtualTimer>();
  #nowMs: number;
  #sequence = 0;
  #runsOfInstant = 0;
  #settling = false;

  constructor({ startMs = 0, maxRunsPerInstant = 1000 }: VirtualTimeOptions = {}) {
    if (!Number.isFinite(startMs) || startMs < 0) {
      throw new RangeError(`startMs must be a finite number >= 0, got ${String(startMs)}`);
    }
    if (!Number.isInteger(maxRunsPerInstant) || maxRunsPerInstant < 1) {
      throw new RangeError(
        `maxRunsPerInstant must be an integer >= 1, got ${String(maxRunsPerInstant)}`,
      );
    }
    this.#nowMs = startMs;
    this.#maxRunsPerInstant = maxRunsPerInstant;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Timers that wait. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** When the next timer is due, ms; undefined when none waits. */
  get nextDeadlineMs(): number | undefined {
    return this.#nextTimer()?.dueMs;
  }

  /** The `clock` port of an actor system. */
  readonly clock = (): number => this.#nowMs;

  /** The `schedule` port of an actor system. */
  readonly schedule = (run: () => void): void => {
    this.#runs.push(run);
  };

  /** The `timerDriver` port of an actor system; one per system. */
  createTimerDriver(): TimerDriver {
    let cancel = (): void => {};
    return {
      arm: (delayMs, wake) => {
        cancel();
        cancel = this.setTimer(delayMs, wake);
      },
      disarm: () => cancel(),
    };
  }

  /** Calls `run` when `delayMs` have passed; returns the function that cancels it. */
  setTimer(delayMs: number, run: () => void): () => void {
    if (!(delayMs >= 0)) throw new RangeError(`delayMs must be >= 0, got ${String(delayMs)}`);
    const timer = { dueMs: this.#nowMs + delayMs, sequence: this.#sequence++, run };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Runs everything that is queued or due now, and what that brings about, to quiescence. */
  settle(): void {
    this.#guard(() => this.#settleInstant());
  }

  /** Moves the clock forward by `ms`, through every deadline on the way. */
  advanceBy(ms: number): void {
    this.advanceTo(this.#nowMs + ms);
  }

  /** Moves the clock to `atMs`, through every deadline on the way; the ones at `atMs` are included. */
  advanceTo(atMs: number): void {
    if (!Number.isFinite(atMs) || atMs < this.#nowMs) {
      throw new RangeError(`time only goes forward: it is ${this.#nowMs} ms, got ${String(atMs)}`);
    }
    this.#guard(() => {
      this.#settleInstant();
      for (let next = this.#nextTimer(); next && next.dueMs <= atMs; next = this.#nextTimer()) {
        this.#moveTo(next.dueMs);
        this.#settleInstant();
      }
      this.#moveTo(atMs);
    });
  }

  /**
   * Moves the clock to `atMs` in one leap, as after a stall of the thread: what was due on the way runs late, all of it
   * at `atMs`.
   */
  stallTo(atMs: number): void {
    if (!Number.isFinite(atMs) || atMs < this.#nowMs) {
      throw new RangeError(`time only goes forward: it is ${this.#nowMs} ms, got ${String(atMs)}`);
    }
    this.#guard(() => {
      this.#moveTo(atMs);
      this.#settleInstant();
    });
  }

  /** Advances from deadline to deadline until no timer waits; `RunawayError` when one still does after `withinMs`. */
  advanceToQuiescence(withinMs = 3_600_000): void {
    const endMs = this.#nowMs + withinMs;
    this.settle();
    for (let next = this.#nextTimer(); next !== undefined; next = this.#nextTimer()) {
      if (next.dueMs > endMs) {
        throw new RunawayError(`a timer still waits for ${next.dueMs} ms, after ${withinMs} ms`);
      }
      this.advanceTo(next.dueMs);
    }
  }

  /** `settle()`, with promise reactions taking part: resolves when neither they nor the actors have more to do. */
  async settleAsync(): Promise<void> {
    let rounds = 0;
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      if (this.#runs.length > 0 || this.#isDue(this.#nextTimer())) {
        rounds += 1;
        if (rounds > this.#maxRunsPerInstant) throw this.#runaway();
        this.settle();
        quiet = 0;
      }
      await Promise.resolve();
    }
  }

  /** `advanceTo()`, with promise reactions taking part at every deadline. */
  async advanceToAsync(atMs: number): Promise<void> {
    await this.settleAsync();
    for (let next = this.#nextTimer(); next && next.dueMs <= atMs; next = this.#nextTimer()) {
      this.advanceTo(Math.max(next.dueMs, this.#nowMs));
      await this.settleAsync();
    }
    this.advanceTo(atMs);
  }

  #guard(work: () => void): void {
    if (this.#settling) throw new RunawayError('virtual time must not be moved from within a run');
    this.#settling = true;
    this.#runsOfInstant = 0;
    try {
      work();
    } finally {
      this.#settling = false;
    }
  }

  #settleInstant(): void {
    for (;;) {
      const run = this.#runs.shift() ?? this.#takeDueTimer();
      if (run === undefined) return;
      this.#runsOfInstant += 1;
      if (this.#runsOfInstant > this.#maxRunsPerInstant) throw this.#runaway();
      run();
    }
  }

  #runaway(): RunawayError {
    return new RunawayError(
      `no rest at ${this.#nowMs} ms: more than ${this.#maxRunsPerInstant} runs in one instant`,
    );
  }

  #takeDueTimer(): (() => void) | undefined {
    const timer = this.#nextTimer();
    if (timer === undefined || !this.#isDue(timer)) return undefined;
    this.#timers.delete(timer);
    return timer.run;
  }

  #isDue(timer: VirtualTimer | undefined): boolean {
    return timer !== undefined && timer.dueMs <= this.#nowMs;
  }

  #nextTimer(): VirtualTimer | undefined {
    let first: VirtualTimer | undefined;
    for (const timer of this.#timers) {
      if (
        first === undefined ||
        timer.dueMs < first.dueMs ||
        (timer.dueMs === first.dueMs && timer.sequence < first.sequence)
      ) {
        first = timer;
      }
    }
    return first;
  }

  #moveTo(atMs: number): void {
    if (atMs <= this.#nowMs) return;
    this.#nowMs = atMs;
    this.#runsOfInstant = 0;
  }
}
