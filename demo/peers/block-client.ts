import { connect } from 'node:net';
import type { Answer } from './peer-protocol.js';

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** The connection stands. */
  readonly onConnected?: () => void;
}

/** Asks one server for one block, over a connection of its own. */
export function fetchBlock(
  address: string,
  key: number,
  { signal, onConnected }: FetchOptions = {},
): Promise<Answer> {
  const [host = '', port = ''] = address.split(':');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port) });
    const onAbort = () => end(() => reject(signal?.reason));
    const end = (settle: () => void) => {
      signal?.removeEventListener('abort', onAbort);
      socket.destroy();
      settle();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    let text = '';
    socket.setEncoding('utf8');
    socket.once('connect', () => {
      onConnected?.();
      socket.write(`get ${key}\n`);
    });
    socket.on('data', (part: string) => {
      text += part;
      if (text.endsWith('\n')) end(() => resolve(JSON.parse(text) as Answer));
    });
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('end', () => end(() => reject(new Error(`${address} ended without an answer`))));
  });
}
