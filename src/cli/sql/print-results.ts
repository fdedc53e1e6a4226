/** Results of a query as text: a table for people, JSON and CSV (RFC 4180) for programs. */
import { safeText } from '../safe-text.js';
import { fitText, textWidth } from '../text-width.js';
import type { QueryResult } from './query-results.js';

export type ResultFormat = 'table' | 'json' | 'csv';

export function printResult(result: QueryResult, format: ResultFormat): string {
  // A statement without rows, such as SET.
  if (result.columns.length === 0 && format !== 'json')
    return format === 'csv' ? '' : `${result.command}\n`;
  switch (format) {
    case 'table':
      return printTable(result);
    case 'json':
      return printJson(result);
    case 'csv':
      return printCsv(result);
  }
}

/** OIDs of numbers, booleans and JSON: the rest is text. */
const EXACT = new Set([21, 23, 26]);
const BIGINT = 20;
const FLOATS = new Set([700, 701]);
const NUMERIC = 1700;
const BOOLEAN = 16;
const JSONS = new Set([114, 3802]);

/** Longest cell of a table: a name of 10 KB must not push all else off the screen. */
const WIDEST = 60;

function printTable({ columns, rows }: QueryResult): string {
  const heads = columns.map(({ name }) => safeText(name));
  const right = columns.map(
    ({ type }) => EXACT.has(type) || type === BIGINT || FLOATS.has(type) || type === NUMERIC,
  );
  const cells = rows.map((row) => row.map((cell) => (cell === null ? 'NULL' : safeText(cell))));
  const widths = heads.map((head, i) => {
    const widest = cells.reduce((most, row) => Math.max(most, textWidth(row[i] ?? '')), 0);
    return Math.min(Math.max(widest, textWidth(head)), WIDEST);
  });
  const line = (row: readonly string[], align: (i: number) => 'left' | 'right'): string =>
    widths
      .map((width, i) => fitText(row[i] ?? '', width, align(i)))
      .join('  ')
      .trimEnd();
  const lines = [
    line(heads, (i) => (right[i] ? 'right' : 'left')),
    widths.map((width) => '-'.repeat(width)).join('  '),
    ...cells.map((row) => line(row, (i) => (right[i] ? 'right' : 'left'))),
    rows.length === 1 ? '(1 row)' : `(${rows.length} rows)`,
  ];
  return `${lines.join('\n')}\n`;
}

/** An array of objects, one a line. A BIGINT beyond what a number holds stays a string. */
function printJson({ columns, rows }: QueryResult): string {
  const lines = rows.map((row) =>
    JSON.stringify(
      Object.fromEntries(
        columns.map(({ name, type }, i) => [name, jsonValue(row[i] ?? null, type)]),
      ),
    ),
  );
  return lines.length === 0 ? '[]\n' : `[\n${lines.map((line) => `  ${line}`).join(',\n')}\n]\n`;
}

function jsonValue(cell: string | null, type: number): unknown {
  if (cell === null) return null;
  if (type === BOOLEAN) return cell === 't';
  if (JSONS.has(type)) return JSON.parse(cell);
  if (EXACT.has(type)) return Number(cell);
  if (type === BIGINT) return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
  if (FLOATS.has(type)) return Number.isFinite(Number(cell)) ? Number(cell) : cell;
  return cell;
}

function printCsv({ columns, rows }: QueryResult): string {
  const line = (cells: readonly (string | null)[]): string =>
    `${cells.map((cell) => (cell === null ? '' : quoted(cell))).join(',')}\r\n`;
  return [columns.map(({ name }) => name), ...rows].map(line).join('');
}

/** NULL is an empty field; an empty text is quoted. */
function quoted(cell: string): string {
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
