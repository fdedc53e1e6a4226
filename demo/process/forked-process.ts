import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type OwnedProcess, ownProcess } from './owned-process.js';

interface Message {
  readonly kind: string;
}

/** A module of the demo in a process of its own, which is told commands and says events. */
export class ForkedProcess<Command extends Message, Event extends Message> {
  readonly #process: OwnedProcess;

  constructor(module: URL, name: string, cleanUp?: () => void) {
    const child = fork(fileURLToPath(module), [], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.#process = ownProcess(child, name, cleanUp);
  }

  /** Rejects when the process ends before it was told to; never resolves. */
  get lost(): Promise<never> {
    return this.#process.lost;
  }

  /** Sends the command and waits for the event that answers it. Ends the process when it is lost instead. */
  async ask<Kind extends Event['kind']>(
    command: Command,
    kind: Kind,
  ): Promise<Extract<Event, { kind: Kind }>> {
    const answered = this.#next(kind);
    this.#process.child.send(command);
    try {
      return await Promise.race([answered, this.lost]);
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Like `ask`, of a process that then ends. */
  async askLast<Kind extends Event['kind']>(
    command: Command,
    kind: Kind,
  ): Promise<Extract<Event, { kind: Kind }>> {
    const event = await this.ask(command, kind);
    await this.#process.exited;
    this.#process.release();
    return event;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.child.kill(signal);
  }

  /** Ends the process at once and cleans up; safe at any time, also twice. */
  kill(): void {
    this.#process.kill();
  }

  #next<Kind extends Event['kind']>(kind: Kind): Promise<Extract<Event, { kind: Kind }>> {
    const { child } = this.#process;
    return new Promise((resolve) => {
      const listen = (event: Event) => {
        if (event.kind !== kind) return;
        child.off('message', listen);
        resolve(event as Extract<Event, { kind: Kind }>);
      };
      child.on('message', listen);
    });
  }
}
