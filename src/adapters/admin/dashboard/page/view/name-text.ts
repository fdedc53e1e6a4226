import { cutText } from '../model/visible-text.js';
import { byId, el, setText } from './dom.js';

/** A name of others, apart from the direction of the text around it; what is cut can be read in full. */
export class NameText {
  readonly element: HTMLSpanElement = el('span', { class: 'name' });
  readonly #text = el('bdi');
  readonly #more = el('button', { type: 'button', class: 'more' }, 'full');
  readonly #length: number | undefined;
  #shown: string | undefined;
  #full = '';

  /** @param length most characters that are shown. */
  constructor(length?: number) {
    this.#length = length;
    this.element.append(this.#text);
    this.#more.addEventListener('click', () => showFull(this.#full));
  }

  show(text: string): void {
    if (text === this.#shown) return;
    this.#shown = text;
    const cut = cutText(text, this.#length);
    setText(this.#text, cut.text);
    this.#full = cut.full ?? '';
    if (cut.full === undefined) this.#more.remove();
    else {
      this.#more.setAttribute('aria-label', `full text, ${text.length} characters`);
      this.element.append(' ', this.#more);
    }
  }
}

function showFull(text: string): void {
  byId('full-text', HTMLPreElement).textContent = text;
  byId('full', HTMLDialogElement).showModal();
}
