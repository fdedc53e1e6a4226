import type { CircuitReport } from './ports.js';

/** Reports are events for people: what comes faster than they can be told is dropped, oldest first. */
const MOST_REPORTS = 16_384;

/** What threads have reported and the actor has not taken yet: one message to it, however many there are. */
export class ReportInbox {
  #reports: CircuitReport[] = [];

  /** @returns whether the actor must be told. */
  add(report: CircuitReport): boolean {
    const isFirst = this.#reports.length === 0;
    // That there are some is all that these say.
    if (report.kind === 'tracked' && !isFirst) return false;
    if (this.#reports.length >= MOST_REPORTS) {
      this.#reports = this.#reports.slice(MOST_REPORTS / 2);
    }
    this.#reports.push(report);
    return isFirst;
  }

  take(): readonly CircuitReport[] {
    const taken = this.#reports;
    this.#reports = [];
    return taken;
  }
}
