/** Writes a runtime's events into its owner's log. Whatever the logger does, it harms nothing here. */
import type { ControlEvent } from '../runtime-events.js';
import { isThenable } from '../thenable.js';
import { eventLines } from './event-lines.js';
import { LineBudget } from './line-budget.js';
import type { Logger, LogLevel } from './logger.js';

export class EventLogger {
  readonly #logger: Logger;
  readonly #budget = new LineBudget();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  write(told: ControlEvent, nowMs: number): void {
    for (const { subject, level, fields, message } of eventLines(told)) {
      const suppressed = this.#budget.take(subject, level, nowMs);
      if (suppressed === undefined) continue;
      this.#log(level, suppressed === 0 ? fields : { ...fields, suppressed }, message);
    }
    if (told.name === 'closed') this.#settle();
  }

  /** Nothing comes after: what was held back is at least counted. */
  #settle(): void {
    for (const { subject, lines, level } of this.#budget.settle()) {
      this.#log(
        level,
        { event: 'suppressed', subject, suppressed: lines },
        `${subject}: ${lines} lines held back`,
      );
    }
  }

  #log(level: LogLevel, fields: object, message: string): void {
    try {
      const returned: unknown = this.#logger[level](fields, message);
      if (isThenable(returned)) returned.then(undefined, () => undefined);
    } catch {
      // The logger's own affair.
    }
  }
}
