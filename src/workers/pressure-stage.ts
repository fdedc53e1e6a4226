/** The pressure stage: holds the call while its bucket is to be left alone. It takes nothing, so there is nothing to give back. */
import type { AdmissionStage, Admitted } from './admission.js';
import type { Hold } from './hold.js';
import type { ThreadPressure } from './thread-pressure.js';

export class PressureStage implements AdmissionStage {
  readonly name = 'pressure';
  readonly #pressure: ThreadPressure;

  constructor(pressure: ThreadPressure) {
    this.#pressure = pressure;
  }

  enter({ bucket, signal }: Admitted, maxWaitMs: number): Promise<Hold> | undefined {
    if (bucket === undefined) return undefined;
    return this.#pressure
      .enter(this.#pressure.place(bucket), maxWaitMs, signal)
      ?.then((waitedNs) => new PressureHold(waitedNs));
  }
}

class PressureHold implements Hold {
  readonly waitedNs: number;

  constructor(waitedNs: number) {
    this.waitedNs = waitedNs;
  }

  spend(): void {}

  cancel(): void {}
}
