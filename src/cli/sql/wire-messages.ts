/** Messages of the Postgres protocol 3 that we make ourselves. */

export function message(type: string, ...parts: readonly (Uint8Array | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? zeroed(part) : part)));
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

/** A string of the protocol. A NUL would end it early. */
function zeroed(text: string): Buffer {
  return Buffer.from(`${text.replaceAll('\0', '')}\0`, 'utf8');
}

export interface WireError {
  readonly severity: 'ERROR' | 'FATAL';
  /** SQLSTATE */
  readonly code: string;
  readonly text: string;
  readonly hint?: string;
}

export function errorResponse({ severity, code, text, hint }: WireError): Buffer {
  const fields = { S: severity, V: severity, C: code, M: text, ...(hint ? { H: hint } : {}) };
  const parts = Object.entries(fields).flatMap(([field, value]) => [Buffer.from(field), value]);
  return message('E', ...parts, Buffer.from([0]));
}

export function readyForQuery(): Buffer {
  return message('Z', Buffer.from('I'));
}

export function parameterStatus(name: string, value: string): Buffer {
  return message('S', name, value);
}

export function query(sql: string): Buffer {
  return message('Q', sql);
}

/** One statement with text parameters, in the extended protocol. */
export function parametrized(sql: string, values: readonly string[]): Buffer {
  const parameters = values.flatMap((value) => {
    const bytes = Buffer.from(value, 'utf8');
    return [int32(bytes.length), bytes];
  });
  return Buffer.concat([
    message('P', '', sql, int16(0)),
    message('B', '', '', int16(0), int16(values.length), ...parameters, int16(0)),
    message('D', Buffer.from('P'), ''),
    message('E', '', int32(0)),
    message('S'),
  ]);
}
