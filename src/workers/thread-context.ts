/** What the parts of one attached thread share: its view of the arena, its place in it, its clock and its timers. */
import type { Arena } from '../shared/arena.js';
import { HEADER, type ThreadLayout } from '../shared/layout.js';
import { readSettings, type Settings, settingsIndex } from '../shared/settings.js';
import type { Clock } from './clock.js';
import type { QueueHost } from './queued-limiter.js';
import { createSignalHub, type SignalHub } from './signal-hub.js';

/** Real timers; a test gives virtual ones. */
export interface Timers {
  /** Calls `fire` in `delayMs` (1 to 3,600,000); returns what cancels it. */
  arm(delayMs: number, fire: () => void): () => void;
}

export class ThreadContext implements QueueHost {
  readonly arena: Arena;
  readonly clock: Clock;
  readonly place: ThreadLayout;
  readonly scratch: number;
  readonly signals: SignalHub = createSignalHub();
  readonly #timers: Timers;
  #settings: Settings;
  #settingsIndex: number;
  #left = false;

  constructor(arena: Arena, place: ThreadLayout, clock: Clock, timers: Timers) {
    this.arena = arena;
    this.clock = clock;
    this.place = place;
    this.scratch = place.scratch;
    this.#timers = timers;
    this.#settingsIndex = settingsIndex(arena);
    this.#settings = readSettings(arena);
  }

  /** The thread gives its place up. */
  leave(): void {
    this.#left = true;
  }

  /** Whether it has: its counters are no longer its own, and what it held then is counted as lost. */
  get hasLeft(): boolean {
    return this.#left;
  }

  /** The settings in force, one load away. */
  settings(): Settings {
    // A plain load tells that they have changed; what they are is read behind an atomic one.
    if (this.arena.i32[HEADER.SETTINGS_INDEX >>> 2] !== this.#settingsIndex) {
      this.#settingsIndex = settingsIndex(this.arena);
      this.#settings = readSettings(this.arena);
    }
    return this.#settings;
  }

  /** Whether the runtime takes no new calls. */
  closing(): boolean {
    return Atomics.load(this.arena.i32, 0) !== 0;
  }

  nowNs(): number {
    return this.clock.nowNs();
  }

  arm(delayMs: number, fire: () => void): () => void {
    return this.#timers.arm(delayMs, fire);
  }

  maxWaiters(): number {
    return this.settings().maxWaiters;
  }

  /** Adds to one of this thread's own counters; nothing once the place is somebody else's. */
  count(counter: number, n: number): void {
    if (this.#left) return;
    const { f64 } = this.arena;
    f64[counter >>> 3] = (f64[counter >>> 3] as number) + n;
  }
}

/** Node's timers. They keep the process alive: somebody waits for them. */
export const nodeTimers: Timers = {
  arm(delayMs, fire) {
    const timer = setTimeout(fire, delayMs);
    return () => clearTimeout(timer);
  },
};
