/**
 * One peer, one text: `HOST:80`, `host.:80` and `http://host/path` are `host:80`, `[0:0:0:0:0:0:0:1]:80` is `[::1]:80`.
 * A port is only filled in where the scheme of a URL has one; `host` alone stays `host`, which is nobody's port in
 * particular. Names are not resolved: two names of one machine are two peers.
 */
import { describeValue } from '../quota.js';
import { canonicalIpv6 } from './canonical-ipv6.js';

export const MAX_ADDRESS_LENGTH = 1024;

/** Ports that a URL may leave out. */
const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['ws', 80],
  ['https', 443],
  ['wss', 443],
]);
/** A scheme of RFC 3986 before `//`. */
const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i;
/** Targets of gRPC that name a host in their own way; `dns://resolver/host:port` has the host in its path. */
const DNS_TARGET = /^dns:(?:\/\/[^/]*\/)?([^/]+)$/i;
const IP_TARGET = /^ipv[46]:([^/]+)$/i;
const LOCAL_SOCKET = /^(?:unix(?:-abstract)?:|\/|\\\\)/i;

/**
 * The canonical text of a peer's address: `host`, `host:port`, `[v6]:port`, a URL (of which only host and port count), a
 * gRPC target, or a local socket (`unix:...`, a path), which stays as it is. `field` names the argument in the error.
 * @throws TypeError for anything but a string; RangeError for a text that names no peer.
 */
export function canonicalAddress(address: string, field = 'address'): string {
  if (typeof address !== 'string')
    throw new TypeError(`${field} must be a string, got ${describeValue(address)}`);
  const refuse = (rule: string): never => {
    throw new RangeError(`${field} must ${rule}, got ${describeValue(address)}`);
  };
  if (address === '') return refuse('not be empty');
  if (address.length > MAX_ADDRESS_LENGTH)
    return refuse(`have at most ${MAX_ADDRESS_LENGTH} characters`);
  if (/[\s\p{Cc}]/u.test(address)) return refuse('be without white space');
  if (LOCAL_SOCKET.test(address)) return address;
  const url = URL_PARTS.exec(address);
  const target = DNS_TARGET.exec(address) ?? IP_TARGET.exec(address);
  if (target !== null) return hostAndPort(target[1] as string, undefined, refuse);
  if (url === null) return hostAndPort(address, undefined, refuse);
  const [, scheme, authority] = url as unknown as [string, string, string];
  // Credentials are nobody's address.
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const port = DEFAULT_PORTS.get(scheme.toLowerCase());
  const found = hostAndPort(host, port, refuse);
  return hasPort(found) ? found : refuse(`name a port, which ${scheme} has no default of`);
}

type Refuse = (rule: string) => never;

function hostAndPort(text: string, otherwise: number | undefined, refuse: Refuse): string {
  const { host, port } = split(text, refuse);
  if (port === undefined) return otherwise === undefined ? host : `${host}:${otherwise}`;
  const number = /^\d{1,8}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65_535) return refuse('have a port from 1 to 65535');
  return `${host}:${number}`;
}

function split(
  text: string,
  refuse: Refuse,
): { readonly host: string; readonly port: string | undefined } {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(text);
  const isBare = bracketed === null && text.split(':').length > 2;
  if (bracketed !== null || isBare) {
    const ip = canonicalIpv6(bracketed?.[1] ?? text);
    if (ip === undefined) return refuse('name a host, or an IPv6 address in brackets');
    return { host: `[${ip}]`, port: bracketed?.[2] };
  }
  const [name = '', port] = text.split(':') as [string, string?];
  // A fully qualified name may end with the root's dot.
  const host = (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
  if (!/^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}._~%-]*[\p{L}\p{M}\p{N}_~])?$/u.test(host))
    return refuse('name a host');
  if (host.includes('..')) return refuse('name a host');
  return { host, port };
}

function hasPort(found: string): boolean {
  return /:\d+$/.test(found.slice(found.lastIndexOf(']') + 1));
}
