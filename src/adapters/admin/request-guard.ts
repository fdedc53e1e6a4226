/**
 * Who is answered. Without a token: requests of this machine that name a loopback host, because a page of anybody's can
 * make a browser send requests here, under a name that it lets point here (DNS rebinding). With one: who brings it. Never:
 * what a browser sends on behalf of another site; there are no CORS headers either, but a request need not be
 * readable to do harm.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type AdminRefusal, refusal } from './admin-refusal.js';
import { isLoopbackAddress, isLoopbackHost } from './loopback.js';

export interface GuardedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string | undefined;
}

/** They hold nothing that is secret: the page asks for all that it shows. */
export const OPEN_PATHS: readonly string[] = ['/', '/healthz'];

/** undefined: it may pass. */
export function guard(
  request: GuardedRequest,
  hasToken: ((authorization: string | undefined) => boolean) | undefined,
): AdminRefusal | undefined {
  if (isCrossSite(request)) return refusal(403, 'requests of other sites are not answered');
  const { headers, path, remoteAddress } = request;
  if (hasToken === undefined) {
    if (isLoopbackAddress(remoteAddress ?? '') && isLoopbackHost(headers.host)) return undefined;
    return refusal(403, 'without a token only loopback names and addresses are answered');
  }
  if (OPEN_PATHS.includes(path) || hasToken(headers.authorization)) return undefined;
  const came = headers.authorization !== undefined;
  return refusal(401, came ? 'the token is not the right one' : 'a token is needed', {
    'www-authenticate': `Bearer realm="spillway"${came ? ', error="invalid_token"' : ''}`,
  });
}

/** By what browsers say of a request, the newer header first: behind a proxy the host of the other may differ. */
function isCrossSite({ method, headers }: GuardedRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return false;
    // Somebody follows a link.
    const isLink =
      headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    return !(isLink && (method === 'GET' || method === 'HEAD'));
  }
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}
