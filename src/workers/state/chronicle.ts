/** What the owner remembers of its runtime, and whom it tells. Every event passes here, in the owner's thread. */
import type { ControlEvent } from '../runtime-events.js';
import { EventListeners } from './event-listeners.js';
import { EventLog } from './event-log.js';
import type { RuntimeState } from './runtime-state.js';
import { readState, type StateOptions, type StateParts } from './state-reader.js';
import { ThrottleHistory } from './throttle-history.js';

export class Chronicle {
  readonly listeners: EventListeners = new EventListeners();
  readonly events: EventLog = new EventLog();
  readonly history: ThrottleHistory = new ThrottleHistory();
  readonly #nowMs: () => number;

  /** `nowMs`: since the runtime's epoch. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  tell(event: ControlEvent): void {
    if (event.name === 'upgrade' || event.name === 'downgrade' || event.name === 'lifted')
      this.history.note(event.name, event.event);
    this.events.record(event, this.#nowMs());
    this.listeners.tell(event);
  }

  state(parts: Omit<StateParts, 'events' | 'history'>, options: StateOptions): RuntimeState {
    return readState({ ...parts, events: this.events, history: this.history }, options);
  }
}
