/** One look at one backend: its `/state`, within a time and a size. */
import type { BackendAddress } from './backend-address.js';
import type { ShownState, StateReader } from './shown-state.js';

export interface StateLimits {
  /** From the request to the last byte of the answer, ms. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** With all pairs that are slowed, not only the 1000 that a state has by itself: more than a backend can track. */
const STATE_PATH = '/state?maxPairs=100000000';

export const STATE_LIMITS: StateLimits = { timeoutMs: 1000, maxBytes: 64 * 1024 * 1024 };

export type BackendAnswer =
  | { readonly kind: 'up'; readonly state: ShownState; readonly tookMs: number }
  | { readonly kind: 'down'; readonly error: string; readonly tookMs: number };

/** Never throws: what went wrong is the answer. */
export async function readBackendState(
  { url, token }: BackendAddress,
  reader: StateReader,
  { timeoutMs, maxBytes }: StateLimits = STATE_LIMITS,
): Promise<BackendAnswer> {
  const startedAt = performance.now();
  const took = (): number => performance.now() - startedAt;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url + STATE_PATH, {
      signal,
      // A token must not travel to where a redirect points.
      redirect: 'error',
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return { kind: 'down', error: explainStatus(response.status, token), tookMs: took() };
    }
    const text = await readText(response, maxBytes);
    return { kind: 'up', state: reader.read(JSON.parse(text)), tookMs: took() };
  } catch (error) {
    const message = signal.aborted ? `no answer within ${timeoutMs} ms` : explain(error);
    return { kind: 'down', error: message, tookMs: took() };
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`the state is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function explainStatus(status: number, token: string | undefined): string {
  if (status !== 401 && status !== 403) return `HTTP ${status}`;
  return token === undefined ? `HTTP ${status}: it wants a token` : `HTTP ${status}: wrong token`;
}

/** `fetch failed` says nothing: its cause does. */
function explain(error: unknown): string {
  if (error instanceof SyntaxError) return 'the state is not JSON';
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = (cause as NodeJS.ErrnoException).code;
  return cause.message === '' ? (code ?? error.message) : cause.message;
}
