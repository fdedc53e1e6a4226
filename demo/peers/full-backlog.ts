/**
 * Makes connects to a frozen peer hang. As long as there is room in its accept backlog the kernel completes connections
 * for it; once that is full it drops what asks for one, as the network of a dead host does. A closed port would refuse at
 * once, and prove nothing.
 */
import { connect, type Socket } from 'node:net';

const patienceMs = 300;
/** That a connect does hang is shown by waiting this long for it. */
const proofMs = 1000;
/** Kernels round the backlog up. */
const most = 512;

export interface FullBacklog {
  /** Connections that it took. */
  readonly taken: number;
  release(): void;
}

/** @throws Error when a connect does not hang. */
export async function fillBacklog(port: number): Promise<FullBacklog> {
  const sockets: Socket[] = [];
  const release = () => {
    for (const socket of sockets) socket.destroy();
  };
  const tryConnect = async (ms: number): Promise<boolean> => {
    const socket = connect({ host: '127.0.0.1', port });
    sockets.push(socket);
    return connects(socket, ms);
  };
  try {
    // One after the other: a connection that is only half made would be taken for a whole one.
    let taken = 0;
    while (await tryConnect(patienceMs)) {
      taken += 1;
      if (taken > most) throw new Error(`the backlog of port ${port} takes ${most} and more`);
    }
    if (await tryConnect(proofMs)) throw new Error(`a connect to port ${port} does not hang`);
    return { taken, release };
  } catch (error) {
    release();
    throw error;
  }
}

function connects(socket: Socket, withinMs: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), withinMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(true);
    });
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(new Error('a connect to the frozen peer was refused', { cause: error }));
    });
    socket.on('error', () => undefined);
  });
}
