/** Reads what a backend answers to a query, for commands that show it. */
import { cString, MessageFrames } from './message-frames.js';

export interface ResultColumn {
  readonly name: string;
  /** OID of its type. */
  readonly type: number;
}

export interface QueryResult {
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Such as `SELECT 3`. */
  readonly command: string;
}

export interface QueryFailure {
  readonly code: string;
  readonly text: string;
  readonly hint: string | undefined;
}

export interface QueryAnswer {
  readonly results: readonly QueryResult[];
  /** What ended it; results before it stand. */
  readonly failure: QueryFailure | undefined;
}

export function readAnswer(chunks: readonly Uint8Array[]): QueryAnswer {
  const results: QueryResult[] = [];
  let failure: QueryFailure | undefined;
  let columns: ResultColumn[] = [];
  let rows: (string | null)[][] = [];
  for (const { type, body } of new MessageFrames(2 ** 30).push(Buffer.concat(chunks))) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    if (type === 'T') {
      columns = readColumns(bytes);
      rows = [];
    } else if (type === 'D') {
      rows.push(readRow(bytes));
    } else if (type === 'C') {
      results.push({ columns, rows, command: cString(body, 0).text });
      columns = [];
      rows = [];
    } else if (type === 'E') {
      failure = readFailure(body);
    }
  }
  return { results, failure };
}

function readColumns(bytes: Buffer): ResultColumn[] {
  const columns: ResultColumn[] = [];
  let at = 2;
  for (let left = bytes.readInt16BE(0); left > 0; left -= 1) {
    const { text, next } = cString(bytes, at);
    columns.push({ name: text, type: bytes.readInt32BE(next + 6) });
    at = next + 18;
  }
  return columns;
}

function readRow(bytes: Buffer): (string | null)[] {
  const row: (string | null)[] = [];
  let at = 2;
  for (let left = bytes.readInt16BE(0); left > 0; left -= 1) {
    const length = bytes.readInt32BE(at);
    at += 4;
    row.push(length < 0 ? null : bytes.toString('utf8', at, at + length));
    at += Math.max(length, 0);
  }
  return row;
}

function readFailure(body: Uint8Array): QueryFailure {
  const fields = new Map<string, string>();
  for (let at = 0; body[at] !== 0 && at < body.length; ) {
    const { text, next } = cString(body, at + 1);
    fields.set(String.fromCharCode(body[at] ?? 0), text);
    at = next;
  }
  return { code: fields.get('C') ?? '', text: fields.get('M') ?? '', hint: fields.get('H') };
}
