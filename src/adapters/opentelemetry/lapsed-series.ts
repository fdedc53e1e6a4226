import type { Sample } from '../prometheus/metric-spec.js';

/**
 * OpenTelemetry's SDK goes on exporting the last value of a series that is observed no more: a table would be slowed, a
 * circuit open for ever. So what has gone is observed once more, as 0.
 */
export class LapsedSeries {
  #last = new Map<string, Sample>();

  /** @param samples all that there are now. @returns those of the last time that are not among them, as 0. */
  next(samples: readonly Sample[]): readonly Sample[] {
    const now = new Map(samples.map((sample) => [JSON.stringify(sample.labels), sample]));
    const gone = [...this.#last].filter(([id]) => !now.has(id));
    this.#last = now;
    return gone.map(([, { labels }]) => ({ labels, value: 0 }));
  }
}
