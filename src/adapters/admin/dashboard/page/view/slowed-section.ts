import type { ThrottledPair } from '../../../../../workers/state/runtime-state.js';
import { shareLeft } from '../model/severity.js';
import { DataTable } from './data-table.js';
import { el } from './dom.js';
import { FilterField } from './filter-field.js';
import { type Scene, type Section, section, whenText } from './section.js';

interface Row {
  readonly pair: ThrottledPair;
  readonly scene: Scene;
}

/** What is slowed now, the most severe first. */
export class SlowedSection implements Section {
  readonly element: HTMLElement;
  readonly #filter = new FilterField('Filter slowed tables', () => this.#update());
  readonly #more = el('p', { class: 'note' });
  #rows: readonly Row[] = [];
  readonly #table = new DataTable<Row>({
    label: 'Slowed tables, the most severe first',
    empty: 'No table is slowed.',
    key: ({ pair }) => JSON.stringify([pair.rpc, pair.table]),
    attributes: ({ pair }) => ({
      'data-rpc': pair.rpc,
      'data-table': pair.table,
      'data-qps-limit': String(pair.qpsLimit),
      'data-current-qps': String(pair.currentQps),
      'data-qps-before': String(pair.qpsBefore),
      'data-since-ms': String(pair.sinceMs),
      'data-steps': String(pair.steps),
    }),
    columns: [
      { head: 'table', cell: ({ pair }) => ({ name: pair.table }) },
      { head: 'RPC', cell: ({ pair }) => ({ name: pair.rpc }) },
      {
        head: 'before',
        number: true,
        cell: ({ pair, scene }) =>
          pair.qpsBefore === null ? 'not known' : scene.formats.rate(pair.qpsBefore),
      },
      { head: 'limit', number: true, cell: ({ pair, scene }) => scene.formats.rate(pair.qpsLimit) },
      {
        head: 'left',
        number: true,
        cell: ({ pair, scene }) => scene.formats.percent(shareLeft(pair)),
      },
      {
        head: 'asked for',
        number: true,
        cell: ({ pair, scene }) => scene.formats.rate(pair.currentQps),
      },
      { head: 'steps', number: true, cell: ({ pair, scene }) => scene.formats.number(pair.steps) },
      { head: 'since', number: true, cell: ({ pair, scene }) => whenText(pair.sinceMs, scene) },
    ],
  });

  constructor() {
    this.element = section('Slowed tables', this.#filter.element, this.#table.element, this.#more);
  }

  draw(scene: Scene): void {
    const { throttled } = scene.board;
    const missing = scene.state.throttledTotal - throttled.length;
    this.#more.textContent =
      missing > 0
        ? `${scene.formats.number(missing)} more are slowed; the page gets these only.`
        : '';
    this.#rows = throttled.map((pair) => ({ pair, scene }));
    this.#filter.element.hidden = throttled.length < 2;
    this.#update();
  }

  #update(): void {
    this.#table.update(
      this.#rows.filter(({ pair }) => this.#filter.matches(`${pair.rpc}/${pair.table}`)),
    );
  }
}
