import { type CircuitRow, circuitRows } from '../model/circuits.js';
import { DataTable } from './data-table.js';
import { el } from './dom.js';
import { type Scene, type Section, section, whenText } from './section.js';

interface Row {
  readonly circuit: CircuitRow;
  readonly scene: Scene;
}

const STATES = { open: 'open', half_open: 'half open', closed: 'closed' } as const;

/** Addresses that something bad is known of. */
export class CircuitsSection implements Section {
  readonly element: HTMLElement;
  readonly #note = el('p', { class: 'note' });
  readonly #table = new DataTable<Row>({
    label: 'Circuits, the open ones first',
    empty: 'No address is unhealthy.',
    key: ({ circuit }) => circuit.address,
    attributes: ({ circuit }) => ({
      'data-address': circuit.address,
      'data-state': circuit.state,
      'data-failures': String(circuit.consecutiveFailures),
      class: circuit.state === 'closed' ? undefined : 'marked',
    }),
    columns: [
      { head: 'address', cell: ({ circuit }) => ({ name: circuit.address }) },
      { head: 'state', cell: ({ circuit }) => STATES[circuit.state] },
      {
        head: 'failures',
        number: true,
        cell: ({ circuit, scene }) =>
          circuit.failures === undefined ? '\u2013' : scene.formats.number(circuit.failures),
      },
      {
        head: 'time to probe',
        number: true,
        cell: ({ circuit, scene }) => probeText(circuit, scene),
      },
      { head: 'because', cell: ({ circuit }) => circuit.reason ?? '\u2013' },
      {
        head: 'opened',
        number: true,
        cell: ({ circuit, scene }) =>
          circuit.openedMs === undefined ? '\u2013' : whenText(circuit.openedMs, scene),
      },
    ],
  });

  constructor() {
    this.element = section('Circuits', this.#table.element, this.#note);
  }

  draw(scene: Scene): void {
    const { runtime } = scene.state;
    const rows = circuitRows(runtime?.circuits ?? [], scene.board.events);
    this.#table.update(rows.map((circuit) => ({ circuit, scene })));
    const missing = (runtime?.breaker.tracked ?? 0) - rows.length;
    this.#note.textContent =
      missing > 0 ? `${scene.formats.number(missing)} more addresses are unhealthy.` : '';
  }
}

function probeText({ state, isolated, retryAfterMs }: CircuitRow, { formats }: Scene): string {
  if (state === 'closed') return '\u2013';
  if (isolated) return 'when closed by hand';
  if (retryAfterMs === 0) return 'next call';
  return formats.duration(Math.ceil(retryAfterMs / 1000) * 1000);
}
