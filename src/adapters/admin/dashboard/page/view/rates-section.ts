import type { PairLine } from '../model/pair-lines.js';
import { el, setAttributes } from './dom.js';
import { LineChart } from './line-chart.js';
import { NameText } from './name-text.js';
import { type Scene, type Section, section } from './section.js';

/** Charts that are drawn: the most severe, then what was released last, then the hottest. */
const CHARTS = 6;

interface Shown {
  readonly chart: LineChart;
  readonly table: NameText;
  readonly rpc: NameText;
}

/** QPS of each table with its limit over it. */
export class RatesSection implements Section {
  readonly element: HTMLElement;
  readonly #grid = el('div', { class: 'charts' });
  readonly #empty = el(
    'p',
    { class: 'empty' },
    'No table was slowed within the last 10 minutes, and none is called.',
  );
  #shown = new Map<string, Shown>();

  constructor() {
    this.element = section('QPS of tables', this.#grid, this.#empty);
  }

  draw(scene: Scene): void {
    const { board, formats } = scene;
    const slowed = board.throttled.flatMap(({ rpc, table }) => board.pairs.of(rpc, table) ?? []);
    const lines = [...slowed.slice(0, CHARTS), ...board.pairs.free()].slice(0, CHARTS);
    const kept = new Map<string, Shown>();
    for (const line of lines) {
      const id = JSON.stringify([line.rpc, line.table]);
      const shown = this.#shown.get(id) ?? create(line, formats.rate);
      kept.set(id, shown);
      setAttributes(shown.chart.element, { 'data-rpc': line.rpc, 'data-table': line.table });
      shown.chart.draw(
        [
          { label: 'asked for', tone: 'rate', points: line.qps.points },
          {
            label: 'limit',
            tone: 'limit',
            points: line.limit.points,
            stepped: true,
            zeroIsNone: true,
          },
        ],
        scene,
      );
    }
    const elements = [...kept.values()].map(({ chart }) => chart.element);
    const same = elements.every((element, i) => this.#grid.children[i] === element);
    if (!same || elements.length !== this.#grid.childElementCount) {
      this.#grid.replaceChildren(...elements);
    }
    this.#shown = kept;
    this.#empty.hidden = elements.length > 0;
  }
}

function create({ rpc, table }: PairLine, value: (rate: number) => string): Shown {
  const [first, second] = [new NameText(28), new NameText(28)];
  first.show(rpc);
  second.show(table);
  const title = el('span', {}, first.element, ' / ', second.element);
  return { chart: new LineChart(title, value), table: second, rpc: first };
}
