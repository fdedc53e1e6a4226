// One of the threads of dead-peer.mjs: one read after the other.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { attach } from '../../dist/index.js';

/** Few enough reads that what is measured is not the machine. */
const PAUSE_MS = 10;
const { handle, dead, alive, attempts } = workerData;
/** @type {Int32Array} */
const words = workerData.words;
const gate = attach(handle);
const epoch = workerData.epochNs;
/** @type {number[]} */
const latenciesMs = [];
const now = () => Number(process.hrtime.bigint() - epoch) / 1e6;

/** @param {string} address @param {AbortSignal} signal @param {() => void} connected @returns {Promise<string>} */
function fetchBlock(address, signal, connected) {
  const [host, port] = address.split(':');
  return new Promise((resolve, reject) => {
    const socket = connect({ host: String(host), port: Number(port) });
    /** @param {() => void} settle */
    const end = (settle) => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      settle();
    };
    const onAbort = () => end(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort);
    socket.setEncoding('utf8').once('connect', () => {
      connected();
      socket.write('get\n');
    });
    socket.on('data', (text) => end(() => resolve(String(text))));
    socket.on('error', (error) => end(() => reject(error)));
  });
}

Atomics.add(words, 0, 1);
Atomics.notify(words, 0);
while (Atomics.load(words, 1) === 0) await sleep(1);
while (Atomics.load(words, 1) === 1) {
  const start = performance.now();
  const { value } = await gate.readFromPeers(
    { candidates: [dead, alive], probe: 'inOrder' },
    (address, { signal, connected }) => {
      // When each attempt to the dead peer began.
      if (address === dead) attempts[Atomics.add(words, 2, 1)] = now();
      return fetchBlock(address, signal, connected);
    },
    () => 'fallback',
  );
  if (value !== 'block\n') throw new Error(`read ${value}`);
  latenciesMs.push(performance.now() - start);
  await sleep(PAUSE_MS);
}
parentPort?.postMessage(latenciesMs);
