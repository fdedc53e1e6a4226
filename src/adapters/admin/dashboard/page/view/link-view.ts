import type { Formats } from '../model/formats.js';
import type { LinkStatus } from '../model/link-status.js';
import { el, setAttributes, setText } from './dom.js';

const MARKS = { connecting: '\u2026', connected: '\u25cf', stale: '\u25b2', denied: '\u25a0' };

/** Says in the header, and in the tab's title, how old what is shown is. */
export class LinkView {
  readonly #element: HTMLElement;
  readonly #formats: Formats;
  // Only the word is spoken, not each second of the age.
  readonly #word = el('span', { role: 'status' });
  readonly #age = el('span');

  constructor(element: HTMLElement, formats: Formats) {
    this.#element = element;
    this.#formats = formats;
    element.replaceChildren(this.#word, this.#age);
  }

  draw({ kind, ageMs }: LinkStatus, polling: boolean, slowed: number): void {
    const words = {
      connecting: 'connecting',
      connected: polling ? 'connected, polling' : 'connected',
      stale: 'stale',
      denied: 'token needed',
    };
    const seconds = Math.max(1, Math.floor((ageMs ?? 0) / 1000));
    setText(this.#word, `${MARKS[kind]} ${words[kind]}`);
    setText(this.#age, kind === 'stale' ? `, ${this.#formats.duration(seconds * 1000)} old` : '');
    setAttributes(this.#element, { 'data-kind': kind });
    setAttributes(document.documentElement, { 'data-link': kind });
    const what = slowed === 0 ? '' : `${slowed} slowed - `;
    const title = `${kind === 'stale' ? '(stale) ' : ''}${what}Spillway`;
    if (document.title !== title) document.title = title;
  }
}
