// Pushes numbered records until word 1 of `buffer` says stop, then says how many.
import { parentPort, workerData } from 'node:worker_threads';
import { Doorbell } from '../../../dist/shared/doorbell.js';
import { RingProducer } from '../../../dist/shared/message-ring.js';

const { buffer, base, records } = workerData;
const words = new Int32Array(buffer, 0, 16);
const producer = new RingProducer(buffer, base, records, new Doorbell(buffer, 0));

parentPort?.postMessage('ready');
let pushed = 0;
while (Atomics.load(words, 1) === 0) {
  // Bursts with pauses between, so that the consumer finds rings full, empty and in between.
  for (let burst = 20 + (pushed % 200); burst >= 0; burst--) {
    pushed++;
    if (producer.push(pushed % 8, pushed, -pushed, pushed / 2, pushed * 1e6))
      Atomics.notify(words, 0);
  }
  Atomics.wait(words, 2, 0, 0.02);
}
parentPort?.postMessage(pushed);
