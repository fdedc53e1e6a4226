/** One call that is really made, as one attempt of the client's. */
import type { Metadata, NextCall, StatusObject } from '@grpc/grpc-js';

export type NextCallObject = ReturnType<NextCall>;
export type Listener = NonNullable<Parameters<NextCallObject['start']>[1]>;
export type MessageContext = Parameters<NextCallObject['sendMessageWithContext']>[0];

/** What came back: the status, the headers if any came, and the response, of a stream its last one. */
export type Answer = StatusObject & {
  readonly headers?: Metadata;
  readonly reply?: unknown;
};

/** Hears what comes back. Keeps it until the end, or passes it on at once. */
export function collectAnswer(onEnd: (answer: Answer) => void): Listener {
  let headers: Metadata | undefined;
  let reply: unknown;
  return {
    onReceiveMetadata(metadata) {
      headers = metadata;
    },
    onReceiveMessage(message: unknown) {
      reply = message;
    },
    onReceiveStatus(end) {
      onEnd({ ...end, ...(headers !== undefined && { headers }), reply });
    },
  };
}

/** As {@link collectAnswer}, but the client hears everything at once; only its last message is kept. */
export function relayAnswer(
  client: () => Listener | undefined,
  onEnd: (answer: Answer, end: StatusObject) => void,
  onMessage: (() => void) | undefined,
): Listener {
  let headers: Metadata | undefined;
  let reply: unknown;
  return {
    onReceiveMetadata(metadata) {
      headers = metadata;
      client()?.onReceiveMetadata?.(metadata);
    },
    onReceiveMessage(message: unknown) {
      reply = message;
      onMessage?.();
      client()?.onReceiveMessage?.(message);
    },
    onReceiveStatus: (end) =>
      onEnd({ ...end, ...(headers !== undefined && { headers }), reply }, end),
  };
}

/** What the client does with a call, in order, to be done to each call that is really made for it. */
export class CallScript {
  readonly #actions: ((call: NextCallObject, isFirst: boolean) => void)[] = [];
  readonly #unsent: MessageContext[] = [];
  #played = false;

  add(action: (call: NextCallObject) => void): void {
    this.#actions.push(action);
  }

  /** The client is told once that a message is written, however often it is sent. */
  addMessage(context: MessageContext, message: unknown): void {
    if (!this.#played) this.#unsent.push(context);
    this.#actions.push((call, isFirst) => {
      const { callback: _, ...rest } = context;
      call.sendMessageWithContext(isFirst ? context : rest, message);
    });
  }

  /** `keep`: it may be played again. */
  play(call: NextCallObject, keep: boolean): void {
    const isFirst = !this.#played;
    this.#played = true;
    this.#unsent.length = 0;
    const actions = keep ? [...this.#actions] : this.#actions.splice(0);
    for (const action of actions) action(call, isFirst);
  }

  /** It is not played any more: tells who wrote a message that was never sent. */
  drop(): void {
    this.#actions.length = 0;
    for (const context of this.#unsent.splice(0)) context.callback?.();
  }
}
