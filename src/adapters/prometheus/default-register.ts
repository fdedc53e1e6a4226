import type { Registry } from 'prom-client';
import { loadPeer } from '../load-peer.js';

/** prom-client's global register. Who is given another one needs no prom-client of ours. @throws Error without the peer. */
export function defaultRegister(): Registry {
  return loadPeer<typeof import('prom-client')>('prom-client', '', 'metrics').register;
}
