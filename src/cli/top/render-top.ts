/** The screen as lines: a pure function of what is known and how it is looked at. */
import { safeText } from '../safe-text.js';
import { cutText } from '../text-width.js';
import { shortNumber, shortTime } from './short-numbers.js';
import type { BackendLine, TopModel } from './top-model.js';
import { sectionTable } from './top-sections.js';
import { SECTIONS, type Section, type TopView } from './top-view.js';

export interface ScreenSize {
  readonly columns: number;
  /** Infinity: all there is. */
  readonly rows: number;
}

/** What a line is; its colour follows from it. */
export type Tone = 'title' | 'heading' | 'columns' | 'plain' | 'warning' | 'bad' | 'dim';

export interface ScreenLine {
  readonly text: string;
  readonly tone: Tone;
}

const HELP = [
  'q, Ctrl-C   quit',
  's           sort pairs by severity (lowest limit), qps, table, since',
  '/           filter: only rows that hold the text; Enter keeps it, Esc drops it',
  'space, p    pause',
  '1           throttled pairs',
  '2           host limits',
  '3           circuits',
  '4           pressure',
  '5           changes of limits, with their reasons',
  '6, 0        all of them',
  'up, down    scroll; page up, page down, home',
  'h, ?        this; any key leaves it',
];

/** At most `rows` lines, none wider than `columns`, none with a control character. */
export function renderTop(
  model: TopModel,
  view: TopView,
  { columns, rows }: ScreenSize,
): ScreenLine[] {
  const lines: ScreenLine[] = [];
  const add = (text: string, tone: Tone): void => {
    lines.push({ text: cutText(text, columns), tone });
  };
  add(title(model, view), 'title');
  if (view.help) {
    for (const text of HELP) add(text, 'plain');
    return lines.slice(0, rows);
  }
  // Backends never take more than a third: what is slowed is what the screen is for.
  const most = Math.max(Math.floor(rows / 3), 1);
  const shown = model.backends.length > most ? model.backends.slice(0, most - 1) : model.backends;
  for (const backend of shown) add(backendText(backend), TONES[backend.health]);
  if (shown.length < model.backends.length) {
    const hidden = model.backends.slice(shown.length);
    const bad = hidden.filter(({ health }) => health !== 'up').length;
    add(`and ${hidden.length} more backends, ${bad} of them not up`, bad > 0 ? 'warning' : 'dim');
  }
  const sections = view.section === undefined ? SECTIONS : [view.section];
  addSections(model, view, sections, { columns, rows: rows - lines.length }, add);
  return lines.slice(0, rows);
}

const TONES: Readonly<Record<BackendLine['health'], Tone>> = {
  up: 'plain',
  stale: 'warning',
  unreachable: 'bad',
};

function title({ atMs, backends, throttled }: TopModel, view: TopView): string {
  if (view.typing !== undefined) return `filter: ${safeText(view.typing)}_`;
  const up = backends.filter(({ health }) => health === 'up').length;
  const busy = backends.reduce((sum, { busyPerSecond }) => sum + (busyPerSecond ?? 0), 0);
  const parts = [
    `spillway top ${new Date(atMs).toISOString().slice(11, 19)}Z`,
    `${up}/${backends.length} up`,
    `${throttled.length} throttled`,
    `BUSY ${shortNumber(busy)}/s`,
    ...(view.paused ? ['PAUSED'] : []),
    ...(view.filter === '' ? [] : [`filter: ${safeText(view.filter)}`]),
    'h help',
  ];
  return parts.join('  ');
}

function backendText(backend: BackendLine): string {
  const { url, health, error, backendId, ageMs, level } = backend;
  const name = `${health.padEnd(11)} ${safeText(url)}${backendId === null ? '' : ` be ${safeText(backendId)}`}`;
  if (health === 'unreachable') return `${name}  ${safeText(error ?? '')}`;
  const age = health === 'stale' ? `  ${shortTime(ageMs)} old: ${safeText(error ?? '')}` : '';
  if (level === undefined) return `${name}${age}  no runtime`;
  const since = `${shortTime(backend.levelForMs)}${backend.rehearsed ? ' (dry run)' : ''}`;
  const busy = shortNumber(backend.busyPerSecond);
  return `${name}${age}  level ${level} for ${since}  BUSY ${busy}/s  ${backend.throttled} throttled  ${shortNumber(backend.threads)} threads`;
}

function addSections(
  model: TopModel,
  view: TopView,
  sections: readonly Section[],
  { columns, rows }: ScreenSize,
  add: (text: string, tone: Tone) => void,
): void {
  const tables = sections
    .map((section) => ({
      section,
      table: sectionTable(section, model, view.sort, view.filter),
    }))
    .filter(({ table, section }) => table.rows > 0 || section === view.section);
  if (tables.length === 0) {
    const none = view.filter === '' ? 'nothing is slowed' : 'nothing matches the filter';
    if (rows > 0) add(none, 'dim');
    return;
  }
  const room = shareRows(
    tables.map(({ table }) => table.rows),
    rows,
  );
  for (const [i, { table }] of tables.entries()) {
    const count = room[i] ?? 0;
    if (count <= 0) continue;
    const first = i === 0 ? Math.min(view.scroll, Math.max(table.rows - count, 0)) : 0;
    const range = table.rows > count ? ` ${first + 1}-${first + count} of` : '';
    add(`${table.title} (${range === '' ? '' : `${range.trim()} `}${table.rows})`, 'heading');
    const [heads = '', ...cells] = table.lines(columns, first, count);
    add(heads, 'columns');
    for (const cell of cells) add(cell, 'plain');
  }
}

/** Lines of a section beside its rows: title and heads. */
const FRAME = 2;

/**
 * Rows for each section: the first may take half of the screen, what one does not need goes to the others, and sections
 * for which nothing is left are not shown.
 */
function shareRows(wanted: readonly number[], rows: number): number[] {
  if (rows === Number.POSITIVE_INFINITY) return [...wanted];
  const shares = wanted.map(() => 0);
  let left = rows;
  // One row of each, as far as there is room, in their order.
  for (const [i, want] of wanted.entries()) {
    if (left < FRAME + 1) break;
    shares[i] = Math.min(want, 1);
    left -= FRAME + (shares[i] ?? 0);
  }
  // Then turn by turn, two for the first.
  for (let given = true; given && left > 0; ) {
    given = false;
    for (const [i, want] of wanted.entries()) {
      const share = shares[i] ?? 0;
      const more = Math.min(i === 0 ? 2 : 1, want - share, left);
      if (share === 0 || more <= 0) continue;
      shares[i] = share + more;
      left -= more;
      given = true;
    }
  }
  return shares;
}
