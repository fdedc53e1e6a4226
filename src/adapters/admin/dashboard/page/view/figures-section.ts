import { highestPressure } from '../model/board.js';
import { el, setAttributes, setText } from './dom.js';
import type { Scene, Section } from './section.js';

interface Figure {
  readonly id: string;
  readonly label: string;
  readonly read: (scene: Scene) => readonly [text: string, mark?: string | undefined];
}

const FIGURES: readonly Figure[] = [
  {
    id: 'slowed',
    label: 'slowed pairs',
    read: ({ state, formats }) => [
      formats.number(state.throttledTotal),
      state.throttledTotal > 0 ? '\u25b2' : undefined,
    ],
  },
  {
    id: 'level',
    label: 'upgrade level',
    read: ({ state, formats }) => [formats.number(state.runtime?.level ?? 0)],
  },
  {
    id: 'busy',
    label: 'BUSY answers',
    read: ({ board, formats }) => [formats.rate(board.busy.last?.[1] ?? 0)],
  },
  {
    id: 'busy-minute',
    label: 'BUSY in 60 s',
    read: ({ state, formats }) => [formats.number(state.runtime?.throttle.busy60s ?? 0)],
  },
  {
    id: 'near-limit',
    label: 'host limits near',
    read: ({ board, formats }) => {
      const near = board.rates.filter(({ nearLimit }) => nearLimit).length;
      return [formats.number(near), near > 0 ? '\u25b2' : undefined];
    },
  },
  {
    id: 'circuits-open',
    label: 'circuits open',
    read: ({ state, formats }) => {
      const { open = 0, halfOpen = 0 } = state.runtime?.breaker ?? {};
      return [formats.number(open + halfOpen), open + halfOpen > 0 ? '\u25b2' : undefined];
    },
  },
  {
    id: 'pressure',
    label: 'pressure',
    read: ({ state, formats }) => {
      const pressure = highestPressure(state);
      return [formats.percent(pressure), pressure >= 0.8 ? '\u25b2' : undefined];
    },
  },
  {
    id: 'config',
    label: 'config version',
    read: ({ state, formats }) => [formats.number(state.runtime?.configVersion ?? 0)],
  },
];

interface FigureCell {
  readonly cell: HTMLElement;
  readonly value: HTMLElement;
  readonly mark: HTMLElement;
}

/** The numbers at a glance. */
export class FiguresSection implements Section {
  readonly element: HTMLElement = el('dl', { id: 'figures', 'aria-label': 'Figures' });
  readonly #cells = FIGURES.map(({ id, label }): FigureCell => {
    const [value, mark] = [el('b'), el('small')];
    const cell = el('div', { 'data-figure': id }, el('dt', {}, label), el('dd', {}, value, mark));
    this.element.append(cell);
    return { cell, value, mark };
  });

  draw(scene: Scene): void {
    for (const [i, { read }] of FIGURES.entries()) {
      const [text, marked] = read(scene);
      const { cell, value, mark } = this.#cells[i] as FigureCell;
      setText(value, text);
      setText(mark, marked ?? '');
      setAttributes(cell, { class: marked === undefined ? undefined : 'marked' });
    }
  }
}
