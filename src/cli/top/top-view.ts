/** How the screen is looked at, and what keys do to it. */
import { SORT_KEYS, type SortKey } from '../command-line.js';

export type Section = 'throttled' | 'hosts' | 'circuits' | 'pressure' | 'changes';
export const SECTIONS: readonly Section[] = [
  'throttled',
  'hosts',
  'circuits',
  'pressure',
  'changes',
];

export interface TopView {
  readonly sort: SortKey;
  readonly filter: string;
  /** The filter as it is typed; undefined: keys are commands. */
  readonly typing: string | undefined;
  readonly paused: boolean;
  /** The only one that is shown; undefined: all of them. */
  readonly section: Section | undefined;
  /** Rows that are scrolled past. */
  readonly scroll: number;
  readonly help: boolean;
}

export function startView(sort: SortKey, filter: string): TopView {
  return {
    sort,
    filter,
    typing: undefined,
    paused: false,
    section: undefined,
    scroll: 0,
    help: false,
  };
}

/** A key as Node's readline names it: `name` of a known one, `text` as it was typed. */
export interface Key {
  readonly name: string | undefined;
  readonly text: string | undefined;
  readonly ctrl: boolean;
}

const LONGEST_FILTER = 200;

/** The view after a key. */
export function pressKey(view: TopView, key: Key): TopView | 'quit' {
  if (key.ctrl && (key.name === 'c' || key.name === 'd')) return 'quit';
  if (view.typing !== undefined) return typeFilter(view, view.typing, key);
  if (view.help) return key.text === 'q' ? 'quit' : { ...view, help: false };
  switch (key.name) {
    case 'up':
      return scrollTo(view, view.scroll - 1);
    case 'down':
      return scrollTo(view, view.scroll + 1);
    case 'pageup':
      return scrollTo(view, view.scroll - 10);
    case 'pagedown':
      return scrollTo(view, view.scroll + 10);
    case 'home':
      return scrollTo(view, 0);
    case 'escape':
      return { ...view, filter: '', scroll: 0 };
    case 'space':
      return { ...view, paused: !view.paused };
  }
  return pressCommand(view, key.text ?? '');
}

function pressCommand(view: TopView, text: string): TopView | 'quit' {
  switch (text) {
    case 'q':
      return 'quit';
    case 's':
      return {
        ...view,
        sort: SORT_KEYS[(SORT_KEYS.indexOf(view.sort) + 1) % SORT_KEYS.length] as SortKey,
      };
    case 'p':
      return { ...view, paused: !view.paused };
    case '/':
      return { ...view, typing: view.filter };
    case 'h':
    case '?':
      return { ...view, help: true };
    case '6':
    case '0':
      return { ...view, section: undefined, scroll: 0 };
  }
  const section = /^[1-5]$/.test(text) ? SECTIONS[Number(text) - 1] : undefined;
  return section === undefined ? view : { ...view, section, scroll: 0 };
}

function scrollTo(view: TopView, scroll: number): TopView {
  return { ...view, scroll: Math.max(scroll, 0) };
}

function typeFilter(view: TopView, typing: string, { name, text, ctrl }: Key): TopView {
  switch (name) {
    case 'return':
    case 'enter':
      return { ...view, filter: typing, typing: undefined, scroll: 0 };
    case 'escape':
      return { ...view, typing: undefined };
    case 'backspace':
      return { ...view, typing: [...typing].slice(0, -1).join('') };
  }
  if (ctrl && name === 'u') return { ...view, typing: '' };
  const printable = text !== undefined && !/\p{Cc}/u.test(text);
  if (ctrl || !printable || typing.length >= LONGEST_FILTER) return view;
  return { ...view, typing: typing + text };
}
