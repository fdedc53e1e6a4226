import type { RpcRates } from '../model/rpc-rates.js';
import { DataTable } from './data-table.js';
import { type Scene, type Section, section } from './section.js';

interface Row {
  readonly rates: RpcRates;
  readonly scene: Scene;
}

/** The bucket of each RPC type, for the whole process. */
export class HostsSection implements Section {
  readonly element: HTMLElement;
  readonly #table = new DataTable<Row>({
    label: 'Host-level buckets, the fullest first',
    empty: 'No RPC type is known.',
    key: ({ rates }) => rates.rpc,
    attributes: ({ rates }) => ({
      'data-rpc': rates.rpc,
      'data-qps-limit': String(rates.qpsLimit),
      class: rates.nearLimit ? 'marked' : undefined,
    }),
    columns: [
      { head: 'RPC', cell: ({ rates }) => ({ name: rates.rpc }) },
      {
        head: 'limit',
        number: true,
        cell: ({ rates, scene }) =>
          rates.qpsLimit === 0 ? 'none' : scene.formats.rate(rates.qpsLimit),
      },
      {
        head: 'granted',
        number: true,
        cell: ({ rates, scene }) => scene.formats.rate(rates.granted),
      },
      {
        head: 'in use',
        number: true,
        cell: ({ rates, scene }) =>
          rates.use === undefined
            ? '\u2013'
            : `${scene.formats.percent(rates.use)}${rates.nearLimit ? ', near limit' : ''}`,
      },
      { head: 'waits', number: true, cell: ({ rates, scene }) => scene.formats.rate(rates.waits) },
      {
        head: 'mean wait',
        number: true,
        cell: ({ rates, scene }) =>
          rates.meanWaitMs === undefined ? '\u2013' : scene.formats.duration(rates.meanWaitMs),
      },
      {
        head: 'refused',
        number: true,
        cell: ({ rates, scene }) => scene.formats.rate(rates.refused),
      },
      { head: 'BUSY', number: true, cell: ({ rates, scene }) => scene.formats.rate(rates.busy) },
    ],
  });

  constructor() {
    this.element = section('Host buckets', this.#table.element);
  }

  draw(scene: Scene): void {
    const rows = scene.board.rates.map((rates) => ({ rates, scene }));
    // In steps, so that rows do not dance while rates wobble.
    const rank = ({ rates }: Row): number => Math.floor(Math.min(rates.use ?? 0, 1) * 10);
    this.#table.update(
      rows.sort((a, b) => rank(b) - rank(a) || (a.rates.rpc < b.rates.rpc ? -1 : 1)),
    );
  }
}
