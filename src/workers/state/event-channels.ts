/** Events on `node:diagnostics_channel`, one channel for each kind: `spillway:upgrade`. Costs nothing unless subscribed to. */
import { type Channel, channel } from 'node:diagnostics_channel';
import { type ControlEvent, RUNTIME_EVENTS, type RuntimeEventName } from '../runtime-events.js';

export interface ChannelMessage<Event = unknown> {
  /** A process may have several runtimes. */
  readonly runtimeId: string;
  /** Place of the event among all events of its runtime, from 1. */
  readonly seq: number;
  /** Since the runtime's epoch. */
  readonly atMs: number;
  readonly event: Event;
}

export class EventChannels {
  readonly #runtimeId: string;
  readonly #channels: ReadonlyMap<RuntimeEventName, Channel>;

  constructor(runtimeId: string) {
    this.#runtimeId = runtimeId;
    this.#channels = new Map(RUNTIME_EVENTS.map((name) => [name, channel(`spillway:${name}`)]));
  }

  /** What a subscriber throws is an uncaught exception of the process, as with any channel. */
  publish({ name, event }: ControlEvent, seq: number, atMs: number): void {
    const named = this.#channels.get(name);
    if (named?.hasSubscribers !== true) return;
    const message: ChannelMessage = { runtimeId: this.#runtimeId, seq, atMs, event };
    named.publish(message);
  }
}
