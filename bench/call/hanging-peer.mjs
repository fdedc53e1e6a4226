// A server in a process of its own that can be stopped so that connects to it hang: SIGSTOP, and a full accept backlog. A
// closed port would refuse at once, and show nothing.
import { fork } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const PATIENCE_MS = 300;
const PROOF_MS = 1000;

/** @typedef {{ port: number, hang: () => Promise<void>, stop: () => Promise<void> }} HangingPeer */

/** @param {number} backlog connections that the kernel takes while the peer does not: few of one that is to hang
 * @returns {Promise<HangingPeer>}
 */
export async function startPeer(backlog) {
  const child = fork(fileURLToPath(import.meta.url), ['serve', String(backlog)], { execArgv: [] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  /** @type {number} */
  const port = await new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(Number(message)));
    child.once('exit', () => reject(new Error('the peer ended early')));
  });
  /** @type {import('node:net').Socket[]} */
  const sockets = [];
  /** @param {number} ms @returns {Promise<boolean>} */
  const connects = (ms) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port });
      sockets.push(socket);
      const timer = setTimeout(() => resolve(false), ms);
      socket.once('connect', () => {
        clearTimeout(timer);
        resolve(true);
      });
      socket.once('error', reject);
      socket.on('error', () => undefined);
    });
  return {
    port,
    async hang() {
      child.kill('SIGSTOP');
      // One after the other: a connection that is only half made would be taken for a whole one.
      while (await connects(PATIENCE_MS));
      if (await connects(PROOF_MS)) throw new Error('a connect does not hang');
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      kill();
      await ended;
      process.off('exit', kill);
    },
  };
}

if (process.argv[2] === 'serve') {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => socket.end('block\n'));
  });
  server.listen({ host: '127.0.0.1', port: 0, backlog: Number(process.argv[3]) }, () => {
    const address = server.address();
    process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
  });
  process.on('disconnect', () => process.exit(0));
}
