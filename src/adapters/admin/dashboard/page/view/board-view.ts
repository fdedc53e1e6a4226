import type { Board } from '../model/board.js';
import type { Formats } from '../model/formats.js';
import { CircuitsSection } from './circuits-section.js';
import { CourseSection } from './course-section.js';
import { setAttributes } from './dom.js';
import { EventsSection } from './events-section.js';
import { FiguresSection } from './figures-section.js';
import { HeadlineSection } from './headline-section.js';
import { HostsSection } from './hosts-section.js';
import { RatesSection } from './rates-section.js';
import type { Section } from './section.js';
import { SlowedSection } from './slowed-section.js';
import { StorageSection } from './storage-section.js';

/** All parts of the page, in the order of what an operator asks first. */
export class BoardView {
  readonly #root: HTMLElement;
  readonly #formats: Formats;
  readonly #sections: readonly Section[] = [
    new HeadlineSection(),
    new FiguresSection(),
    new SlowedSection(),
    new RatesSection(),
    new CourseSection(),
    new HostsSection(),
    new CircuitsSection(),
    new StorageSection(),
    new EventsSection(),
  ];

  constructor(root: HTMLElement, formats: Formats) {
    this.#root = root;
    this.#formats = formats;
  }

  /** @param ageMs of the last state. */
  draw(board: Board, ageMs: number): void {
    const { state } = board;
    if (state === undefined) return;
    if (this.#root.childElementCount === 0) {
      this.#root.append(...this.#sections.map(({ element }) => element));
    }
    const scene = {
      board,
      state,
      formats: this.#formats,
      nowMs: state.atMs + ageMs,
      wallMs: Date.parse(state.now) + ageMs,
    };
    for (const section of this.#sections) section.draw(scene);
    // Which state it is that is shown, for whoever compares.
    setAttributes(this.#root, {
      'data-runtime-id': state.runtimeId,
      'data-at-ms': String(state.atMs),
      'data-seq': String(board.lastSeq),
      'data-level': String(state.runtime?.level ?? null),
      'data-config-version': String(state.runtime?.configVersion ?? null),
      'data-throttled-total': String(state.throttledTotal),
    });
  }
}
