/** What the owner remembers of its runtime, and whom it tells. Every event passes here, in the owner's thread. */
import type { ControlEvent } from '../runtime-events.js';
import type { LimitSnapshot } from '../snapshot.js';
import { EventChannels } from './event-channels.js';
import { EventListeners } from './event-listeners.js';
import { EventLog } from './event-log.js';
import { EventLogger } from './event-logger.js';
import type { Logger } from './logger.js';
import type { RuntimeState } from './runtime-state.js';
import { readState, type StateOptions, type StateParts } from './state-reader.js';
import { ThrottleHistory } from './throttle-history.js';

export interface ChronicleParts {
  readonly runtimeId: string;
  /** Since the runtime's epoch. */
  readonly nowMs: () => number;
  readonly logger: Logger | undefined;
}

export class Chronicle {
  readonly listeners: EventListeners = new EventListeners();
  readonly events: EventLog = new EventLog();
  readonly #history = new ThrottleHistory();
  readonly #channels: EventChannels;
  readonly #lines: EventLogger | undefined;
  readonly #nowMs: () => number;

  constructor({ runtimeId, nowMs, logger }: ChronicleParts) {
    this.#channels = new EventChannels(runtimeId);
    this.#lines = logger === undefined ? undefined : new EventLogger(logger);
    this.#nowMs = nowMs;
  }

  tell(event: ControlEvent): void {
    const atMs = this.#nowMs();
    if (event.name === 'upgrade' || event.name === 'downgrade' || event.name === 'lifted')
      this.#history.note(event.name, event.event);
    const { seq } = this.events.record(event, atMs);
    this.#channels.publish(event, seq, atMs);
    this.listeners.tell(event);
    this.#lines?.write(event, atMs);
  }

  /** See {@link ThrottleHistory.forget}. */
  forget(limits: readonly LimitSnapshot[]): void {
    this.#history.forget(limits);
  }

  state(parts: Omit<StateParts, 'events' | 'history'>, options: StateOptions): RuntimeState {
    return readState({ ...parts, events: this.events, history: this.#history }, options);
  }
}
