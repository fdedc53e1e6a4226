import { createRequire } from 'node:module';

/**
 * A peer that is a CommonJS package, when it is first needed: the same copy as an import of it gives.
 *
 * @throws Error that names what must be installed for what.
 */
export function loadPeer<Peer>(name: string, version: string, user: string): Peer {
  try {
    return createRequire(import.meta.url)(name) as Peer;
  } catch (cause) {
    throw new Error(`${name}${version} must be installed for ${user}`, { cause });
  }
}
