import type { RecordedEvent } from '../../../../../workers/state/runtime-state.js';
import { describeEvent, type EventLine } from '../model/describe-event.js';
import { DataTable } from './data-table.js';
import { el } from './dom.js';
import { FilterField } from './filter-field.js';
import { type Scene, type Section, section, whenText } from './section.js';

interface Row {
  readonly recorded: RecordedEvent;
  readonly line: EventLine;
  readonly scene: Scene;
}

/** What happened, the newest first. */
export class EventsSection implements Section {
  readonly element: HTMLElement;
  readonly #filter = new FilterField('Filter events', () => this.#update());
  #rows: readonly Row[] = [];
  /** Each event is put into words once. */
  #lines = new Map<number, EventLine>();
  #runtimeId = '';
  readonly #table = new DataTable<Row>({
    label: 'Events, the newest first',
    empty: 'No event.',
    limit: 25,
    key: ({ recorded }) => String(recorded.seq),
    attributes: ({ recorded, line }) => ({
      'data-seq': String(recorded.seq),
      'data-name': recorded.name,
      'data-tone': line.tone,
    }),
    columns: [
      { head: 'when', cell: ({ recorded, scene }) => whenText(recorded.atMs, scene) },
      { head: 'event', cell: ({ recorded }) => recorded.name },
      { head: 'what', length: 160, cell: ({ line }) => ({ name: line.text }) },
    ],
  });

  constructor() {
    this.element = section('Events', el('div', {}, this.#filter.element), this.#table.element);
  }

  draw(scene: Scene): void {
    const { events } = scene.board;
    const known = scene.state.runtimeId === this.#runtimeId ? this.#lines : new Map();
    this.#runtimeId = scene.state.runtimeId;
    this.#lines = new Map(
      events.map((recorded) => [
        recorded.seq,
        known.get(recorded.seq) ?? describeEvent(recorded, scene.formats),
      ]),
    );
    this.#rows = events
      .map((recorded) => ({ recorded, line: this.#lines.get(recorded.seq) as EventLine, scene }))
      .reverse();
    this.#update();
  }

  #update(): void {
    this.#table.update(
      this.#rows.filter(({ recorded, line }) =>
        this.#filter.matches(`${recorded.name} ${line.text}`),
      ),
    );
  }
}
