import { el } from './dom.js';

/** A field whose words must all occur, in any case. */
export class FilterField {
  readonly element: HTMLLabelElement;
  readonly #input: HTMLInputElement;

  constructor(label: string, changed: () => void) {
    this.#input = el('input', { type: 'search', placeholder: 'filter', 'aria-label': label });
    this.element = el('label', { class: 'filter' }, this.#input);
    this.#input.addEventListener('input', changed);
  }

  matches(text: string): boolean {
    const words = this.#input.value.toLowerCase().split(/\s+/);
    const low = text.toLowerCase();
    return words.every((word) => low.includes(word));
  }
}
