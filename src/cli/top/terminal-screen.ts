/** The terminal while `spillway top` has it: the alternate screen, without a cursor, given back in every case. */
import type { ScreenLine, ScreenSize, Tone } from './render-top.js';

/** What is needed of `process.stdout`. */
export interface TerminalOutput {
  write(text: string): unknown;
}

/** A terminal that does not know its size, such as a serial line, says 0: it is taken for one of the usual size. */
export function sizeOf(terminal: { readonly columns: number; readonly rows: number }): ScreenSize {
  return { columns: terminal.columns || 80, rows: terminal.rows || 24 };
}

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[0m\x1b[?1049l';

const COLOURS: Readonly<Record<Tone, string>> = {
  title: '\x1b[7m',
  heading: '\x1b[1m',
  columns: '\x1b[4m',
  plain: '',
  warning: '\x1b[33m',
  bad: '\x1b[31m',
  dim: '\x1b[2m',
};

export class TerminalScreen {
  readonly #output: TerminalOutput;
  readonly #colours: boolean;
  #entered = false;

  constructor(output: TerminalOutput, colours: boolean) {
    this.#output = output;
    this.#colours = colours;
  }

  enter(): void {
    if (this.#entered) return;
    this.#entered = true;
    this.#output.write(ENTER);
  }

  /** Twice is fine. */
  leave(): void {
    if (!this.#entered) return;
    this.#entered = false;
    this.#output.write(LEAVE);
  }

  draw(lines: readonly ScreenLine[]): void {
    if (!this.#entered) return;
    const painted = lines.map(({ text, tone }) => {
      const colour = this.#colours ? COLOURS[tone] : '';
      // Cleared first: what follows a full line would take its last character away.
      return colour === '' ? `\x1b[2K${text}` : `\x1b[2K${colour}${text}\x1b[0m`;
    });
    this.#output.write(`\x1b[H${painted.join('\r\n')}\x1b[J`);
  }
}
