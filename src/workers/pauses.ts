/** Who in this thread backs off before another attempt. Each pause ends at its time, by its signal, or when all are ended. */
import { Alarm, type AlarmHost } from './alarm.js';
import type { SignalHub } from './signal-hub.js';

export interface PauseHost extends AlarmHost {
  readonly signals: SignalHub;
}

export class Pauses {
  readonly #host: PauseHost;
  readonly #enders = new Set<(reason: unknown) => void>();
  #over: { readonly reason: unknown } | undefined;

  constructor(host: PauseHost) {
    this.#host = host;
  }

  get size(): number {
    return this.#enders.size;
  }

  /** Resolves at `untilNs`. Rejects with the signal's reason. */
  until(untilNs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#over !== undefined) return Promise.reject(this.#over.reason);
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const alarm = new Alarm(this.#host, () => {
        leave();
        resolve();
      });
      const end = (reason: unknown): void => {
        leave();
        reject(reason);
      };
      const unwatch =
        signal && this.#host.signals.watch(signal, () => end(signal.reason as unknown));
      const leave = (): void => {
        alarm.clear();
        unwatch?.();
        this.#enders.delete(end);
      };
      this.#enders.add(end);
      alarm.set(untilNs);
    });
  }

  /** Ends all pauses, and those that are still to come: an attempt may settle after its thread has left. */
  endAll(reason: unknown): void {
    this.#over = { reason };
    for (const end of this.#enders) end(reason);
  }
}
