import type { ThrottleRecord } from '../../../../../workers/state/runtime-state.js';
import { throttleStack } from '../model/throttle-stack.js';
import { DataTable } from './data-table.js';
import { el } from './dom.js';
import { LineChart } from './line-chart.js';
import { type Scene, type Section, section, whenText } from './section.js';

interface Row {
  readonly record: ThrottleRecord;
  readonly scene: Scene;
}

/** BUSY answers and the upgrade level over time, and the upgrades in force: the next downgrade undoes the first. */
export class CourseSection implements Section {
  readonly element: HTMLElement;
  readonly #charts = el('div', { class: 'charts' });
  #busy: LineChart | undefined;
  #level: LineChart | undefined;
  readonly #older = el('p', { class: 'note' });
  readonly #stack = new DataTable<Row>({
    label: 'Upgrades in force, the newest first',
    empty: 'No upgrade is in force.',
    limit: 10,
    key: ({ record }) => String(record.seq),
    attributes: ({ record }) => ({
      'data-seq': String(record.seq),
      'data-level': String(record.level),
    }),
    columns: [
      { head: 'level', number: true, cell: ({ record }) => String(record.level) },
      { head: 'since', cell: ({ record, scene }) => whenText(record.atMs, scene) },
      { head: 'because', cell: ({ record }) => ({ name: record.reason }) },
      { head: 'slowed', length: 160, cell: ({ record, scene }) => changesText(record, scene) },
    ],
  });

  constructor() {
    this.element = section(
      'Level and BUSY',
      this.#charts,
      el('h3', {}, 'Upgrades in force'),
      this.#stack.element,
      this.#older,
    );
  }

  draw(scene: Scene): void {
    const { board, state, formats } = scene;
    if (this.#busy === undefined) {
      this.#busy = new LineChart(el('span', {}, 'BUSY answers per second'), formats.rate, 1);
      this.#level = new LineChart(el('span', {}, 'Upgrade level'), formats.number, 1);
      this.#charts.append(this.#busy.element, this.#level.element);
    }
    this.#busy.draw([{ label: 'BUSY', tone: 'busy', points: board.busy.points }], scene);
    this.#level?.draw(
      [{ label: 'level', tone: 'level', points: board.level.points, stepped: true }],
      scene,
    );
    const { known, unknown } = throttleStack(board.history, state.runtime?.level ?? 0);
    this.#stack.update(known.map((record) => ({ record, scene })));
    this.#older.textContent =
      unknown > 0 ? `${unknown} in force that the history does not tell of.` : '';
  }
}

function changesText({ changes }: ThrottleRecord, { formats }: Scene): { name: string } | string {
  if (changes.length === 0) return 'nothing was fast enough';
  const rate = (value: number | null): string => (value === null ? 'free' : formats.rate(value));
  const each = changes.map(
    ({ rpc, table, before, after }) => `${rpc}/${table} ${rate(before)} \u2192 ${rate(after)}`,
  );
  return { name: each.join(', ') };
}
