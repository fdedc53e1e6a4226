/**
 * How often a log may speak: at most one line a second about one subject. Pure: time is an argument. What is held back is
 * counted, and the count is given out with the next line about the subject, or at the end.
 */
import type { LogLevel } from './logger.js';

const SPACING_MS = 1000;
const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface HeldBack {
  readonly subject: string;
  readonly lines: number;
  /** Of the most severe. */
  readonly level: LogLevel;
}

interface Account {
  readonly writtenMs: number;
  heldBack: number;
  level: LogLevel;
}

export class LineBudget {
  readonly #accounts = new Map<string, Account>();

  /** How many lines were held back before this one; undefined: this one is held back, too. */
  take(subject: string, level: LogLevel, nowMs: number): number | undefined {
    const account = this.#accounts.get(subject);
    if (account !== undefined && nowMs - account.writtenMs < SPACING_MS) {
      account.heldBack += 1;
      if (SEVERITY[level] > SEVERITY[account.level]) account.level = level;
      return undefined;
    }
    this.#accounts.set(subject, { writtenMs: nowMs, heldBack: 0, level: 'debug' });
    return account?.heldBack ?? 0;
  }

  /** What was held back and not given out; from here on it has been. */
  settle(): readonly HeldBack[] {
    const all = [...this.#accounts].filter(([, { heldBack }]) => heldBack > 0);
    this.#accounts.clear();
    return all.map(([subject, { heldBack, level }]) => ({ subject, lines: heldBack, level }));
  }
}
