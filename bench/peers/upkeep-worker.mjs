// Fills a bucket, or moves its clock, from a thread of its own, as the control thread does for the kernel.
import { parentPort, workerData } from 'node:worker_threads';
import { refill } from './counter-shared-bucket.mjs';
import { tick } from './gcra-shared-bucket.mjs';

const { kind, buffer, perSecond, burst } = workerData;
if (kind === 'counter') refill(buffer, { perSecond, burst });
else tick(buffer, perSecond);
parentPort?.postMessage('started');
