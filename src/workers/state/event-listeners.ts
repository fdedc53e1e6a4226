/**
 * Who listens to a runtime's events. What one listener throws reaches neither the runtime nor the other listeners: it is
 * an uncaught exception of the process, in a turn of its own.
 */
import { describeValue } from '../../shared/quota.js';
import {
  type ControlEvent,
  RUNTIME_EVENTS,
  type RuntimeEventName,
  type RuntimeEvents,
} from '../runtime-events.js';

export type EventListener<Name extends RuntimeEventName> = (event: RuntimeEvents[Name]) => void;

interface Listener {
  readonly listener: (event: never) => void;
  readonly once: boolean;
}

/** Runs `listener` as if it were alone in its turn. */
export function callAlone<Value>(listener: (value: Value) => void, value: Value): void {
  try {
    listener(value);
  } catch (error) {
    setImmediate(() => {
      throw error;
    });
  }
}

export class EventListeners {
  readonly #byName = new Map<RuntimeEventName, readonly Listener[]>();

  /** @throws TypeError for an unknown name, or what is no function. */
  add<Name extends RuntimeEventName>(
    name: Name,
    listener: EventListener<Name>,
    once: boolean,
  ): void {
    requireName(name);
    if (typeof listener !== 'function')
      throw new TypeError(`listener must be a function, got ${describeValue(listener)}`);
    // Lists are never changed, so that a round that is under way goes on as it began.
    this.#byName.set(name, [...this.#of(name), { listener, once }]);
  }

  /** The one added last. @throws TypeError for an unknown name. */
  remove<Name extends RuntimeEventName>(name: Name, listener: EventListener<Name>): void {
    requireName(name);
    const listeners = this.#of(name);
    const at = listeners.findLastIndex((one) => one.listener === listener);
    if (at >= 0) this.#byName.set(name, listeners.toSpliced(at, 1));
  }

  tell({ name, event }: ControlEvent): void {
    const listeners = this.#of(name);
    if (listeners.some(({ once }) => once))
      this.#byName.set(
        name,
        listeners.filter(({ once }) => !once),
      );
    for (const { listener } of listeners) callAlone(listener, event as never);
  }

  #of(name: RuntimeEventName): readonly Listener[] {
    return this.#byName.get(name) ?? [];
  }
}

function requireName(name: RuntimeEventName): void {
  if (RUNTIME_EVENTS.includes(name)) return;
  throw new TypeError(
    `name must be one of ${RUNTIME_EVENTS.join(', ')}, got ${describeValue(name)}`,
  );
}
