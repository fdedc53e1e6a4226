import type { WriteStream } from 'node:tty';
import type { Sample, TimelineEntry } from '../run/run-record.js';
import type { Scenario } from '../scenario.js';
import { type Progress, type RunName, viewProgress } from './progress.js';
import { renderFrame, renderLine } from './render-progress.js';

/** Lines per run where nobody watches. */
const linesPerRun = 10;
/** Rates on a screen are over this time, so that they do not flicker. */
const frameMs = 500;

/** Redrawn in place on a terminal, a line now and then elsewhere, nothing when quiet. */
export function createProgress(scenario: Scenario, out: WriteStream, quiet: boolean): Progress {
  if (quiet) return { begin() {}, update() {}, end() {} };
  return out.isTTY
    ? new ProgressShow(scenario, frameMs, new Screen(out))
    : new ProgressShow(scenario, scenario.durationMs / linesPerRun, {
        show: (view) => out.write(`${renderLine(view)}\n`),
        leave: () => undefined,
      });
}

interface Surface {
  show(view: Parameters<typeof renderFrame>[0]): void;
  /** What stands there stays. */
  leave(): void;
}

class ProgressShow implements Progress {
  readonly #scenario: Scenario;
  readonly #everyMs: number;
  readonly #surface: Surface;
  #run: RunName = 'without Spillway';
  #shown: Sample | undefined;
  #latest: readonly [Sample, TimelineEntry | undefined] | undefined;

  constructor(scenario: Scenario, everyMs: number, surface: Surface) {
    this.#scenario = scenario;
    this.#everyMs = everyMs;
    this.#surface = surface;
  }

  begin(run: RunName): void {
    this.#run = run;
    this.#shown = undefined;
    this.#latest = undefined;
  }

  update(sample: Sample, limits: TimelineEntry | undefined): void {
    this.#latest = [sample, limits];
    if (sample.atMs - (this.#shown?.atMs ?? 0) >= this.#everyMs) this.#show(sample, limits);
  }

  #show(sample: Sample, limits: TimelineEntry | undefined): void {
    this.#surface.show(viewProgress(this.#run, this.#scenario, this.#shown, sample, limits));
    this.#shown = sample;
  }

  end(): void {
    if (this.#latest !== undefined && this.#latest[0] !== this.#shown) this.#show(...this.#latest);
    this.#surface.leave();
  }
}

class Screen implements Surface {
  readonly #out: WriteStream;
  #height = 0;

  constructor(out: WriteStream) {
    this.#out = out;
  }

  show(view: Parameters<typeof renderFrame>[0]): void {
    const lines = renderFrame(view);
    const up = this.#height === 0 ? '' : `\x1b[${this.#height}A`;
    const width = Math.max(20, this.#out.columns - 1);
    this.#out.write(`${up}${lines.map((line) => `\x1b[2K${line.slice(0, width)}\n`).join('')}`);
    this.#height = lines.length;
  }

  leave(): void {
    this.#height = 0;
  }
}
