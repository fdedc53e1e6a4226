// What asking another thread costs: there and back, one at a time.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const WARM = 2000;
const TIMED = 20_000;

export async function measure() {
  const worker = new Worker(new URL('./message-port-echo.mjs', import.meta.url));
  await once(worker, 'online');
  await roundTrips(worker, WARM);
  const start = performance.now();
  const answered = await roundTrips(worker, TIMED);
  const elapsedNs = (performance.now() - start) * 1e6;
  if (answered !== TIMED) throw new Error(`${answered} of ${TIMED} messages came back`);
  await worker.terminate();
  return { threads: 2, ops: TIMED, nsPerOp: elapsedNs / TIMED };
}

/** @param {Worker} worker @param {number} n @returns {Promise<number>} */
function roundTrips(worker, n) {
  return new Promise((resolve) => {
    let answered = 0;
    worker.on('message', (message) => {
      if (message !== answered) throw new Error('out of order');
      answered += 1;
      if (answered < n) {
        worker.postMessage(answered);
        return;
      }
      worker.removeAllListeners('message');
      resolve(answered);
    });
    worker.postMessage(0);
  });
}
