/** The sections of the screen: which rows they show, in which order, in which columns. */
import type { SortKey } from '../command-line.js';
import { percent, shortNumber, shortTime } from './short-numbers.js';
import { layoutTable, type TableColumn } from './table-layout.js';
import type {
  ChangeLine,
  CircuitLine,
  HostLine,
  PressureLine,
  ThrottledLine,
  TopModel,
} from './top-model.js';
import type { Section } from './top-view.js';

export interface SectionTable {
  readonly title: string;
  /** Rows after the filter. */
  readonly rows: number;
  /** Heads first; `first` and `count` choose among the rows. */
  readonly lines: (width: number, first: number, count: number) => string[];
}

export function sectionTable(
  section: Section,
  model: TopModel,
  sort: SortKey,
  filter: string,
): SectionTable {
  switch (section) {
    case 'throttled':
      return table(`Throttled by ${sort}`, [...model.throttled].sort(ORDER[sort]), PAIRS, filter);
    case 'hosts':
      return table('Host limits, fullest first', [...model.hosts].sort(byUse), HOSTS, filter);
    case 'circuits':
      return table('Circuits', [...model.circuits].sort(byProbe), CIRCUITS, filter);
    case 'pressure':
      return table('Pressure', [...model.pressure].sort(byPressure), PRESSURE, filter);
    case 'changes':
      return table('Changes of limits, newest first', model.changes, CHANGES, filter);
  }
}

function table<Row>(
  title: string,
  all: readonly Row[],
  columns: readonly TableColumn<Row>[],
  filter: string,
): SectionTable {
  const wanted = filter.toLowerCase();
  const rows =
    wanted === ''
      ? all
      : all.filter((row) => columns.some(({ cell }) => cell(row).toLowerCase().includes(wanted)));
  return {
    title,
    rows: rows.length,
    lines: (width, first, count) => layoutTable(columns, rows.slice(first, first + count), width),
  };
}

/** Most severely throttled first, as the system table's own examples have it: the lowest limit. */
const ORDER: Readonly<Record<SortKey, (a: ThrottledLine, b: ThrottledLine) => number>> = {
  severity: (a, b) => a.qpsLimit - b.qpsLimit,
  qps: (a, b) => b.currentQps - a.currentQps,
  table: (a, b) => (a.table < b.table ? -1 : a.table > b.table ? 1 : 0),
  since: (a, b) => a.forMs - b.forMs,
};

/** Share of the host limit that is used; a limit of 0 is none. */
function useOf({ qpsLimit, usedPerSecond }: HostLine): number {
  return qpsLimit > 0 && usedPerSecond !== undefined ? usedPerSecond / qpsLimit : Number.NaN;
}

function byUse(a: HostLine, b: HostLine): number {
  const [left, right] = [useOf(a), useOf(b)].map((use) => (Number.isNaN(use) ? -1 : use));
  return (right ?? 0) - (left ?? 0);
}

function byProbe(a: CircuitLine, b: CircuitLine): number {
  const rank = ({ state }: CircuitLine): number => (state === 'closed' ? 1 : 0);
  return rank(a) - rank(b) || a.probeInMs - b.probeInMs;
}

function byPressure(a: PressureLine, b: PressureLine): number {
  return b.pressure - a.pressure || (b.l0Files ?? 0) - (a.l0Files ?? 0);
}

const left = 'left';
const right = 'right';

const PAIRS: readonly TableColumn<ThrottledLine>[] = [
  { head: 'BE', align: left, min: 4, max: 21, drop: 2, cell: ({ backend }) => backend },
  { head: 'RPC', align: left, min: 12, max: 28, drop: 0, cell: ({ rpc }) => rpc },
  { head: 'TABLE', align: left, min: 10, drop: 0, cell: ({ table: key }) => key },
  { head: 'LIMIT/s', align: right, min: 7, drop: 0, cell: ({ qpsLimit }) => shortNumber(qpsLimit) },
  {
    head: 'NOW/s',
    align: right,
    min: 7,
    drop: 0,
    cell: ({ currentQps }) => shortNumber(currentQps),
  },
  {
    head: 'BEFORE/s',
    align: right,
    min: 8,
    drop: 3,
    cell: ({ qpsBefore }) => shortNumber(qpsBefore),
  },
  { head: 'FOR', align: right, min: 6, drop: 1, cell: ({ forMs }) => shortTime(forMs) },
];

const HOSTS: readonly TableColumn<HostLine>[] = [
  { head: 'BE', align: left, min: 4, max: 21, drop: 2, cell: ({ backend }) => backend },
  { head: 'RPC', align: left, min: 12, drop: 0, cell: ({ rpc }) => rpc },
  { head: 'USED', align: right, min: 5, drop: 0, cell: (row) => percent(useOf(row)) },
  {
    head: 'LIMIT/s',
    align: right,
    min: 7,
    drop: 0,
    cell: ({ qpsLimit }) => (qpsLimit === 0 ? 'off' : shortNumber(qpsLimit)),
  },
  {
    head: 'CALLS/s',
    align: right,
    min: 7,
    drop: 1,
    cell: ({ callsPerSecond }) => shortNumber(callsPerSecond),
  },
  {
    head: 'BUSY/s',
    align: right,
    min: 6,
    drop: 0,
    cell: ({ busyPerSecond }) => shortNumber(busyPerSecond),
  },
  {
    head: 'REFUSED/s',
    align: right,
    min: 9,
    drop: 3,
    cell: ({ refusedPerSecond }) => shortNumber(refusedPerSecond),
  },
];

const CIRCUITS: readonly TableColumn<CircuitLine>[] = [
  { head: 'BE', align: left, min: 4, max: 21, drop: 2, cell: ({ backend }) => backend },
  { head: 'ADDRESS', align: left, min: 12, drop: 0, cell: ({ address }) => address },
  { head: 'STATE', align: left, min: 9, drop: 0, cell: ({ state }) => state },
  {
    head: 'FAILURES',
    align: right,
    min: 8,
    drop: 1,
    cell: ({ failures }) => shortNumber(failures),
  },
  {
    head: 'PROBE IN',
    align: right,
    min: 8,
    drop: 0,
    cell: ({ state, probeInMs }) =>
      state === 'closed' || state === 'isolated' ? '-' : shortTime(probeInMs),
  },
];

const PRESSURE: readonly TableColumn<PressureLine>[] = [
  { head: 'BE', align: left, min: 4, max: 21, drop: 2, cell: ({ backend }) => backend },
  { head: 'SIDE', align: left, min: 6, drop: 3, cell: ({ side }) => side },
  { head: 'BUCKET', align: left, min: 12, drop: 0, cell: ({ bucket }) => bucket },
  { head: 'PRESSURE', align: right, min: 8, drop: 0, cell: ({ pressure }) => pressure.toFixed(2) },
  {
    head: 'LEFT',
    align: right,
    min: 6,
    drop: 1,
    cell: ({ remainingMs }) => shortTime(remainingMs),
  },
  { head: 'L0', align: right, min: 4, drop: 0, cell: ({ l0Files }) => shortNumber(l0Files) },
  {
    head: 'PENDING',
    align: right,
    min: 7,
    drop: 4,
    cell: ({ pendingBytes }) => shortNumber(pendingBytes),
  },
];

const CHANGES: readonly TableColumn<ChangeLine>[] = [
  { head: 'BE', align: left, min: 4, max: 21, drop: 2, cell: ({ backend }) => backend },
  { head: 'AGO', align: right, min: 6, drop: 0, cell: ({ agoMs }) => shortTime(agoMs) },
  { head: 'KIND', align: left, min: 9, drop: 0, cell: ({ kind }) => kind },
  { head: 'LEVEL', align: right, min: 5, drop: 1, cell: ({ level }) => shortNumber(level) },
  { head: 'PAIRS', align: right, min: 5, drop: 3, cell: ({ pairs }) => shortNumber(pairs) },
  { head: 'REASON', align: left, min: 10, drop: 0, cell: ({ reason }) => reason },
];
