import type { KvBucketStats, KvTableStats } from '../../../../../workers/kv/kv-meters.js';
import type { PressureSnapshot } from '../../../../../workers/snapshot.js';
import { clientWindows } from '../model/client-windows.js';
import { DataTable } from './data-table.js';
import { el } from './dom.js';
import { LineChart } from './line-chart.js';
import { type Scene, type Section, section } from './section.js';

interface TableRow {
  readonly store: string;
  readonly stats: KvTableStats;
  readonly scene: Scene;
}

interface BucketRow {
  readonly store: string;
  readonly table: string;
  readonly stats: KvBucketStats;
  readonly scene: Scene;
}

interface WindowRow {
  readonly window: PressureSnapshot;
  readonly scene: Scene;
}

/** Pressure of the stores of this process, and of those elsewhere that have asked it to slow down. */
export class StorageSection implements Section {
  readonly element: HTMLElement;
  readonly #stores = el('div');
  readonly #chart = el('div', { class: 'charts' });
  #pressure: LineChart | undefined;
  readonly #windows = el('div');
  readonly #none = el(
    'p',
    { class: 'empty' },
    'No store runs here, and none has asked to slow down.',
  );

  readonly #tables = new DataTable<TableRow>({
    label: 'Tables of the stores here, the highest pressure first',
    empty: 'No table is open.',
    key: ({ store, stats }) => JSON.stringify([store, stats.table]),
    attributes: ({ store, stats }) => ({
      'data-store': store,
      'data-table': stats.table,
      'data-pressure': String(stats.maxPressure),
      'data-l0': String(stats.maxL0Files),
      class: stats.maxPressure >= 0.8 ? 'marked' : undefined,
    }),
    columns: [
      { head: 'table', cell: ({ stats }) => ({ name: stats.table }) },
      { head: 'store', cell: ({ store }) => ({ name: store }) },
      {
        head: 'pressure',
        number: true,
        cell: ({ stats, scene }) => pressureText(stats.maxPressure, scene),
      },
      {
        head: 'L0 files',
        number: true,
        cell: ({ stats, scene }) => scene.formats.number(stats.maxL0Files),
      },
      {
        head: 'waiting',
        number: true,
        cell: ({ stats, scene }) => scene.formats.bytes(stats.pendingBytes),
      },
      {
        head: 'rejected',
        number: true,
        cell: ({ stats, scene }) => scene.formats.number(stats.rejections),
      },
      {
        head: 'tried again',
        number: true,
        cell: ({ stats, scene }) => scene.formats.number(stats.flushRetries),
      },
    ],
  });

  readonly #buckets = new DataTable<BucketRow>({
    label: 'Buckets of the stores here, the highest pressure first',
    empty: 'No bucket is under pressure.',
    limit: 10,
    key: ({ store, table, stats }) => JSON.stringify([store, table, stats.bucket]),
    attributes: ({ store, table, stats }) => ({
      'data-store': store,
      'data-table': table,
      'data-bucket': String(stats.bucket),
      'data-pressure': String(stats.pressure),
      class: stats.pressure >= 0.8 ? 'marked' : undefined,
    }),
    columns: [
      { head: 'bucket', number: true, cell: ({ stats }) => String(stats.bucket) },
      { head: 'table', cell: ({ table }) => ({ name: table }) },
      {
        head: 'pressure',
        number: true,
        cell: ({ stats, scene }) => pressureText(stats.pressure, scene),
      },
      {
        head: 'L0 files',
        number: true,
        cell: ({ stats, scene }) => scene.formats.number(stats.l0Files),
      },
      {
        head: 'waiting',
        number: true,
        cell: ({ stats, scene }) => scene.formats.bytes(stats.pendingBytes),
      },
    ],
  });

  readonly #told = new DataTable<WindowRow>({
    label: 'Buckets elsewhere that have asked to slow down',
    empty: 'None.',
    key: ({ window }) => window.bucket,
    attributes: ({ window }) => ({
      'data-bucket': window.bucket,
      'data-pressure': String(window.pressure),
      class: window.pressure >= 0.8 ? 'marked' : undefined,
    }),
    columns: [
      { head: 'bucket', cell: ({ window }) => ({ name: window.bucket }) },
      {
        head: 'pressure',
        number: true,
        cell: ({ window, scene }) => pressureText(window.pressure, scene),
      },
      {
        head: 'for another',
        number: true,
        cell: ({ window, scene }) => scene.formats.duration(Math.round(window.remainingMs)),
      },
    ],
  });

  constructor() {
    this.#stores.append(
      this.#tables.element,
      el('h3', {}, 'Buckets under pressure'),
      this.#buckets.element,
    );
    this.#windows.append(el('h3', {}, 'Told by stores elsewhere'), this.#told.element);
    this.element = section('Storage', this.#chart, this.#stores, this.#windows, this.#none);
  }

  draw(scene: Scene): void {
    const { state, board, formats } = scene;
    const tables = state.stores
      .flatMap(({ name, tables }) => tables.map((stats) => ({ store: name, stats, scene })))
      .sort((a, b) => b.stats.maxPressure - a.stats.maxPressure);
    const buckets = tables
      .flatMap(({ store, stats: { table, buckets } }) =>
        buckets.map((stats) => ({ store, table, stats, scene })),
      )
      .filter(({ stats }) => stats.pressure > 0)
      .sort((a, b) => b.stats.pressure - a.stats.pressure);
    const windows = clientWindows(state.runtime);
    const seen = board.pressure.points.some(([, pressure]) => pressure > 0);
    this.#stores.hidden = state.stores.length === 0;
    this.#windows.hidden = windows.length === 0;
    this.#chart.hidden = this.#stores.hidden && !seen;
    this.#none.hidden = !(this.#stores.hidden && this.#windows.hidden);
    this.#tables.update(tables);
    this.#buckets.update(buckets);
    this.#told.update(windows.map((window) => ({ window, scene })));
    if (this.#chart.hidden) return;
    if (this.#pressure === undefined) {
      this.#pressure = new LineChart(el('span', {}, 'Highest pressure'), formats.percent, 0.5);
      this.#chart.append(this.#pressure.element);
    }
    this.#pressure.draw(
      [{ label: 'pressure', tone: 'pressure', points: board.pressure.points }],
      scene,
    );
  }
}

function pressureText(pressure: number, { formats }: Scene): string {
  return `${formats.percent(pressure)}${pressure >= 1 ? ', refuses' : pressure >= 0.8 ? ', high' : ''}`;
}
