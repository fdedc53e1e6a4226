import { el, setAttributes, setText } from './dom.js';
import { NameText } from './name-text.js';

/** What a cell shows: words of ours, or a name of others. */
export type Cell = string | { readonly name: string; readonly prefix?: string };

export interface Column<Row> {
  readonly head: string;
  /** Aligned to the right. */
  readonly number?: boolean;
  /** Most characters of a name that are shown; default: those of a table's name. */
  readonly length?: number;
  readonly cell: (row: Row) => Cell;
}

export interface TableOptions<Row> {
  /** Accessible name. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Unique; a row keeps its place in the document as long as it has the same. */
  readonly key: (row: Row) => string;
  /** Of the row itself: `data-...` and `class`. */
  readonly attributes?: (row: Row) => Readonly<Record<string, string | undefined>>;
  /** Instead of the table, where there are no rows. */
  readonly empty: string;
  /** Rows that are shown at first. Default: 20. */
  readonly limit?: number;
}

interface ShownRow {
  readonly element: HTMLTableRowElement;
  readonly cells: readonly HTMLTableCellElement[];
  readonly names: (NameText | undefined)[];
}

/** A table that is brought up to date row by row. On narrow screens each row stands as a block of named values. */
export class DataTable<Row> {
  readonly element: HTMLDivElement = el('div', { class: 'data' });
  readonly #options: TableOptions<Row>;
  // Roles are named, because a row that is shown as a block loses its own.
  readonly #body = el('tbody', { role: 'rowgroup' });
  readonly #table: HTMLTableElement;
  readonly #empty = el('p', { class: 'empty' });
  readonly #all = el('button', { type: 'button', class: 'all' });
  #rows = new Map<string, ShownRow>();
  #last: readonly Row[] = [];
  #open = false;

  constructor(options: TableOptions<Row>) {
    this.#options = options;
    const { label, columns, empty } = options;
    const heads = columns.map(({ head, number }) =>
      el('th', { scope: 'col', role: 'columnheader', class: number ? 'number' : undefined }, head),
    );
    this.#table = el(
      'table',
      { role: 'table', 'aria-label': label },
      el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ...heads)),
      this.#body,
    );
    setText(this.#empty, empty);
    this.#all.addEventListener('click', () => {
      this.#open = !this.#open;
      this.update(this.#last);
    });
    this.element.append(this.#table, this.#empty, this.#all);
  }

  update(rows: readonly Row[]): void {
    this.#last = rows;
    const { key, limit = 20 } = this.#options;
    const shown = this.#open ? rows : rows.slice(0, limit);
    const kept = new Map<string, ShownRow>();
    let place = this.#body.firstElementChild;
    for (const row of shown) {
      const id = key(row);
      const one = this.#rows.get(id) ?? this.#create();
      this.#fill(one, row);
      kept.set(id, one);
      if (place === one.element) place = place.nextElementSibling;
      else this.#body.insertBefore(one.element, place);
    }
    for (const [id, { element }] of this.#rows) if (!kept.has(id)) element.remove();
    this.#rows = kept;
    this.#table.hidden = rows.length === 0;
    this.#empty.hidden = rows.length > 0;
    this.#all.hidden = rows.length <= limit;
    setText(this.#all, this.#open ? 'show fewer' : `show all ${rows.length}`);
  }

  #create(): ShownRow {
    const cells = this.#options.columns.map(({ head, number }) =>
      el('td', { role: 'cell', 'data-head': head, class: number ? 'number' : undefined }),
    );
    return { element: el('tr', { role: 'row' }, ...cells), cells, names: [] };
  }

  #fill({ element, cells, names }: ShownRow, row: Row): void {
    const { columns, attributes } = this.#options;
    setAttributes(element, attributes?.(row) ?? {});
    for (const [i, { cell, length }] of columns.entries()) {
      const target = cells[i] as HTMLTableCellElement;
      const content = cell(row);
      if (typeof content === 'string') {
        setText(target, content);
        continue;
      }
      const { name, prefix = '' } = content;
      const shown = names[i] ?? new NameText(length);
      if (names[i] === undefined) {
        names[i] = shown;
        target.append(el('span', { class: 'prefix' }), shown.element);
      }
      setText(target.firstElementChild as Element, prefix);
      shown.show(name);
    }
  }
}
