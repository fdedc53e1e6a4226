/** The newest events of a runtime, numbered and timed, and those who are told of each. Owner thread only. */
import { describeValue } from '../../shared/quota.js';
import type { ControlEvent } from '../runtime-events.js';
import { callAlone } from './event-listeners.js';
import { frozen } from './frozen.js';
import { Recent } from './recent.js';
import type { RecordedEvent } from './runtime-state.js';

const CAPACITY = 1000;
/** Pairs that a record names: with many hot tables the ring must not grow beyond a few MB. */
export const MAX_RECORDED_PAIRS = 100;

export type RecordListener = (event: RecordedEvent) => void;

export class EventLog {
  readonly #recent = new Recent<RecordedEvent>(CAPACITY);
  #listeners: readonly RecordListener[] = [];
  #seq = 0;

  record(event: ControlEvent, atMs: number): RecordedEvent {
    this.#seq += 1;
    const recorded = frozen({ seq: this.#seq, atMs, ...short(event) } as RecordedEvent);
    this.#recent.push(recorded);
    for (const listener of this.#listeners) callAlone(listener, recorded);
    return recorded;
  }

  /**
   * Those after `sinceSeq` that are still kept, oldest first. If the first has another number than `sinceSeq + 1`, some
   * were forgotten. RangeError for what is no integer >= 0.
   */
  since(sinceSeq: number): readonly RecordedEvent[] {
    if (!Number.isSafeInteger(sinceSeq) || sinceSeq < 0)
      throw new RangeError(`sinceSeq must be an integer >= 0, got ${describeValue(sinceSeq)}`);
    return this.#recent.newest(this.#seq - sinceSeq);
  }

  /** @returns takes the listener away again. */
  listen(listener: RecordListener): () => void {
    if (typeof listener !== 'function')
      throw new TypeError(`listener must be a function, got ${describeValue(listener)}`);
    // Of its own, so that who listens twice is told twice, and leaves one by one.
    const own: RecordListener = (event) => listener(event);
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== own);
    };
  }
}

function short(told: ControlEvent): ControlEvent {
  if (told.name !== 'upgrade' && told.name !== 'downgrade' && told.name !== 'lifted') return told;
  const { name, event } = told;
  if (event.changed <= MAX_RECORDED_PAIRS) return told;
  const actions = event.actions.slice(0, MAX_RECORDED_PAIRS);
  return {
    name,
    event: { ...event, actions, changes: event.changes.slice(0, MAX_RECORDED_PAIRS) },
  };
}
