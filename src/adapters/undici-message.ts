/** What callbacks of the undici interceptor get to see of a request and of its response. */
import type { Dispatcher } from 'undici';

export interface UndiciRequest {
  /** As it was given, `GET`. */
  readonly method: string;
  /** `http://10.0.0.7:8040`; undefined where a `Client` or `Pool` of one origin is asked without naming it. */
  readonly origin: string | undefined;
  /** As it was given: a `query` that was given apart is in `options`. */
  readonly path: string;
  /** Everything that was given to `dispatch`. */
  readonly options: Dispatcher.DispatchOptions;
  /** Value of a header, whatever the case of its name and the form that the headers were given in. */
  header(name: string): string | undefined;
}

export interface UndiciResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** By lower-case name; undefined until the response has ended. */
  readonly trailers: Readonly<Record<string, string | string[] | undefined>> | undefined;
}

export function describeRequest(options: Dispatcher.DispatchOptions): UndiciRequest {
  const { method, origin, path } = options;
  return {
    method,
    origin: origin instanceof URL ? origin.origin : origin,
    path,
    options,
    header: (name) => findHeader(options.headers, name.toLowerCase()),
  };
}

function findHeader(headers: unknown, name: string): string | undefined {
  for (const [key, value] of headerPairs(headers)) {
    if (String(key).toLowerCase() !== name || value === undefined || value === null) continue;
    return Array.isArray(value) ? value.join(', ') : String(value);
  }
  return undefined;
}

/** undici takes an object, an iterable of pairs, and a flat array of names and values. */
function headerPairs(headers: unknown): Iterable<readonly [unknown, unknown]> {
  if (typeof headers !== 'object' || headers === null) return [];
  if (Array.isArray(headers) && !Array.isArray(headers[0])) {
    const flat: readonly unknown[] = headers;
    return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]] as const] : []));
  }
  return Symbol.iterator in headers
    ? (headers as Iterable<readonly [unknown, unknown]>)
    : Object.entries(headers);
}
