// Follows a runtime's events and scrapes its metrics once a second, as a dashboard and a Prometheus would.
import { parentPort, workerData } from 'node:worker_threads';

const { body } = await fetch(new URL('/events', workerData));
if (body === null) throw new Error('no stream of events');
const reader = body.getReader();
await reader.read();
parentPort?.postMessage('follows');
setInterval(async () => void (await (await fetch(new URL('/metrics', workerData))).text()), 1000);
for (;;) if ((await reader.read()).done) break;
