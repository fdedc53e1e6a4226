/** Runs in the control thread. */
import { type MessagePort, parentPort, threadId, workerData } from 'node:worker_threads';
import { ControlHost } from './control-host.js';
import type { Command, ControlStart } from './messages.js';

const owner = parentPort as MessagePort;
const host = new ControlHost(workerData as ControlStart, owner);

process.on('workerMessage', (message: unknown) => host.receive(message));
owner.on('message', (command: Command) => {
  if (command.kind !== 'close') return;
  host.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
host.start(threadId);
