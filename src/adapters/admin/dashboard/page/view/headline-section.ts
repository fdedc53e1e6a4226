import { headline } from '../model/headline.js';
import { cutText } from '../model/visible-text.js';
import { el, setAttributes } from './dom.js';
import type { Scene, Section } from './section.js';

const WORDS = { waiting: '', calm: 'Calm', warn: 'Watch', bad: 'Slowed' } as const;

/** The sentence that an operator reads first; spoken when it changes in more than its numbers. */
export class HeadlineSection implements Section {
  readonly element: HTMLElement = el('section', { id: 'headline', 'aria-label': 'Summary' });
  readonly #spoken = el('p', { class: 'spoken', role: 'status' });
  readonly #lines = el('div');
  #said = '';
  #shown = '';

  constructor() {
    this.element.append(this.#lines, this.#spoken);
  }

  draw({ board, formats }: Scene): void {
    const { tone, sentences } = headline(board, formats);
    const all = JSON.stringify(sentences);
    setAttributes(this.element, { 'data-tone': tone });
    if (all !== this.#shown) {
      this.#shown = all;
      this.#lines.replaceChildren(
        ...sentences.map((parts) =>
          el(
            'p',
            {},
            ...parts.map((part) =>
              typeof part === 'string' ? part : el('bdi', {}, cutText(part.name, 40).text),
            ),
          ),
        ),
      );
    }
    const saying = `${WORDS[tone]} ${board.throttled.length}`;
    if (saying === this.#said) return;
    this.#said = saying;
    this.#spoken.textContent = this.#lines.textContent;
  }
}
