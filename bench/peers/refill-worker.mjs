// Fills a FastSharedBucket from a thread of its own, as the control thread ticks the coarse clock.
import { parentPort, workerData } from 'node:worker_threads';
import { refill } from './fast-shared-bucket.mjs';

refill(workerData.buffer, workerData.quota);
parentPort?.postMessage('filled');
