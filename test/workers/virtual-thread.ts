/**
 * Attached threads under virtual time: each a real context on the arena, whose clock stands still until it is told to
 * move and whose timers may fire late, or a little early, as Node's do.
 */
import type { Arena } from '../../src/shared/arena.js';
import { readSettings, type Settings, writeSettings } from '../../src/shared/settings.js';
import { applyConfig } from '../../src/workers/apply-config.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';
import type { ResolvedConfig } from '../../src/workers/config/resolved-config.js';
import { ThreadContext } from '../../src/workers/thread-context.js';

interface Timer {
  readonly dueNs: number;
  readonly fire: () => void;
}

/** Turns of the microtask queue in which a chain of awaits comes to its end. */
const TURNS = 12;

export class VirtualClock {
  #nowNs: number;
  readonly #timers = new Set<Timer>();
  readonly #lateMs: () => number;
  /** Timers that have fired so far. */
  fired = 0;
  /** The most that were armed at one time. */
  mostArmed = 0;
  /** The shortest and the longest delay that was asked for, ms. */
  delaysMs: { least: number; most: number } = { least: Number.POSITIVE_INFINITY, most: 0 };

  /** `lateMs`: by how much the next timer is late; below 0 it is early. */
  constructor({ startMs = 0, lateMs = () => 0 }: { startMs?: number; lateMs?: () => number } = {}) {
    this.#nowNs = startMs * 1e6;
    this.#lateMs = lateMs;
  }

  nowNs(): number {
    return this.#nowNs;
  }

  get nowMs(): number {
    return this.#nowNs / 1e6;
  }

  get armed(): number {
    return this.#timers.size;
  }

  arm(delayMs: number, fire: () => void): () => void {
    this.delaysMs.least = Math.min(this.delaysMs.least, delayMs);
    this.delaysMs.most = Math.max(this.delaysMs.most, delayMs);
    const dueNs = this.#nowNs + wholeNs(Math.max(delayMs + this.#lateMs(), 0));
    const timer = { dueNs, fire };
    this.#timers.add(timer);
    this.mostArmed = Math.max(this.mostArmed, this.#timers.size);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Moves the clock and fires nothing, as while the thread is busy. */
  stall(ms: number): void {
    this.#nowNs += wholeNs(ms);
  }

  /** Moves the clock by `ms`, firing timers on the way; promises settle in between. */
  async pass(ms: number): Promise<void> {
    const endNs = this.#nowNs + wholeNs(ms);
    await settled();
    for (let next = this.#next(); next !== undefined && next.dueNs <= endNs; next = this.#next()) {
      this.#nowNs = Math.max(this.#nowNs, next.dueNs);
      this.#timers.delete(next);
      this.fired += 1;
      next.fire();
      await settled();
    }
    this.#nowNs = Math.max(this.#nowNs, endNs);
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers)
      if (next === undefined || timer.dueNs < next.dueNs) next = timer;
    return next;
  }
}

const wholeNs = (ms: number): number => Math.round(ms * 1e6);

/** Lets promises that can settle do so. */
export async function settled(): Promise<void> {
  for (let i = 0; i < TURNS; i++) await undefined;
}

export function virtualThread(arena: Arena, clock: VirtualClock, place = 0): ThreadContext {
  return new ThreadContext(arena, arena.layout.thread(place), clock, clock);
}

const DEFAULTS: ResolvedConfig = resolveConfig({ tables: { enabled: true } }, 1);

/** Puts settings in force: the defaults, with tables switched on, but for what is named. */
export function setSettings(arena: Arena, change: Partial<Settings> = {}): void {
  applyConfig(arena, { config: DEFAULTS, version: 1 }, 1, 0);
  writeSettings(arena, { ...readSettings(arena), ...change });
}

/** What became of a promise, without waiting for it. */
export interface Watched<T> {
  state: 'pending' | 'resolved' | 'rejected';
  value: T | undefined;
  error: unknown;
  /** When it settled, ms. */
  atMs: number;
}

export function watched<T>(clock: VirtualClock, start: () => T | Promise<T>): Watched<T> {
  const seen: Watched<T> = {
    state: 'pending',
    value: undefined,
    error: undefined,
    atMs: Number.NaN,
  };
  const settle = (state: 'resolved' | 'rejected', what: Partial<Watched<T>>): void => {
    Object.assign(seen, what, { state, atMs: clock.nowMs });
  };
  try {
    const started = start();
    if (!(started instanceof Promise)) settle('resolved', { value: started });
    else
      started.then(
        (value) => settle('resolved', { value }),
        (error: unknown) => settle('rejected', { error }),
      );
  } catch (error) {
    settle('rejected', { error });
  }
  return seen;
}
