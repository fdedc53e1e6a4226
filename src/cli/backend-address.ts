import { readFileSync } from 'node:fs';
import { UsageError } from './usage-error.js';

/** Where a backend's state is served. */
export interface BackendAddress {
  /** As it was given, without a slash at its end. It holds no secret. */
  readonly url: string;
  readonly token: string | undefined;
}

/** Ours, so that no list can open sockets without end. */
const MOST_BACKENDS = 256;

/**
 * `http://127.0.0.1:9464,https://b.example:9464/spillway`: where an admin server or a key-value server listens, its path
 * before `/state`. A token in an address is refused: it would show in `ps`.
 */
export function readBackends(text: string, tokens: Tokens): readonly BackendAddress[] {
  const urls = text.split(',').map((one) => readUrl(one.trim()));
  if (urls.length > MOST_BACKENDS) {
    throw new UsageError(`--backends may name ${MOST_BACKENDS} backends, got ${urls.length}`);
  }
  const twice = urls.find((url, i) => urls.indexOf(url) !== i);
  if (twice !== undefined) throw new UsageError(`--backends names ${twice} twice`);
  const unused = [...tokens.byBackend.keys()].find((url) => !urls.includes(url));
  if (unused !== undefined) {
    throw new UsageError(
      `the token file has a token for ${unused}, which --backends does not name`,
    );
  }
  return urls.map((url) => ({ url, token: tokens.byBackend.get(url) ?? tokens.any }));
}

function readUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new UsageError(`--backends must be URL,URL,..., got ${JSON.stringify(text)}`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new UsageError(`a backend must be an http or https URL, got ${JSON.stringify(text)}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(
      `a backend's URL must hold no user or password, got one for ${url.host}: use --token-file or SPILLWAY_TOKEN`,
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw new UsageError(`a backend's URL must have no ? and no #, got one for ${url.host}`);
  }
  return url.href.replace(/\/+$/, '');
}

/** Tokens of the backends' admin servers. */
export interface Tokens {
  readonly any: string | undefined;
  readonly byBackend: ReadonlyMap<string, string>;
}

/** What an `Authorization` header can hold without a doubt. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/**
 * One line with a token: it is for all backends. Lines of an address and a token, `http://127.0.0.1:9464 secret`: each for
 * that backend. Empty lines and those that begin with `#` are passed over.
 */
export function readTokens(file: string | undefined, environment: string | undefined): Tokens {
  if (file === undefined) {
    const any = environment === undefined || environment === '' ? undefined : environment.trim();
    if (any !== undefined && !TOKEN.test(any)) {
      throw new UsageError('SPILLWAY_TOKEN must be of visible ASCII characters');
    }
    return { any, byBackend: new Map() };
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new UsageError(`--token-file cannot be read: ${file} (${code})`);
  }
  return readTokenLines(text, file);
}

function readTokenLines(text: string, file: string): Tokens {
  let any: string | undefined;
  const byBackend = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const words = line.trim().split(/\s+/);
    const where = `${file}, line ${index + 1}`;
    if (words[0] === '' || words[0]?.startsWith('#')) continue;
    const token = words.at(-1) ?? '';
    if (words.length > 2 || !TOKEN.test(token)) {
      throw new UsageError(`${where} must be TOKEN or URL TOKEN, of visible ASCII characters`);
    }
    if (words.length === 2) {
      byBackend.set(readUrl(words[0] ?? ''), token);
    } else if (any === undefined) {
      any = token;
    } else {
      throw new UsageError(`${where} is a second token for all backends`);
    }
  }
  if (any === undefined && byBackend.size === 0) throw new UsageError(`${file} holds no token`);
  return { any, byBackend };
}
