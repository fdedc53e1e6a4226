// A day of events at ten a second, in virtual time: through the record, the history, the log's budget and a stream. What is
// left of them in memory.
import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { EventStreams } from '../../dist/adapters/admin/event-streams.js';
import { createRuntime } from '../../dist/index.js';
import { Chronicle } from '../../dist/workers/state/chronicle.js';

const HOURS = 24;
const PER_HOUR = 36_000;
const STEP_MS = 100;

export async function measure() {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  const runtime = await createRuntime({ host: { rpcs: { write: {}, commit: {} } } });
  const snapshot = runtime.snapshot();
  await runtime.close();

  let [nowMs, lines, bytes] = [0, 0, 0];
  const sink = {
    write() {
      lines += 1;
    },
  };
  const runtimeId = randomUUID();
  const chronicle = new Chronicle({
    runtimeId,
    nowMs: () => nowMs,
    logger: pino({ level: 'debug' }, sink),
  });
  chronicle.listeners.add('upgrade', () => undefined, false);
  const startedAt = new Date();
  const parts = { runtimeId, backendId: null, startedAt, snapshot, hottest: [] };
  const state = () => chronicle.state(parts, {});
  let tick = () => undefined;
  const streams = new EventStreams(
    {
      state,
      recordedEvents: (seq) => chronicle.events.since(seq),
      onRecorded: (listener) => chronicle.events.listen(listener),
    },
    { maxStreams: 64, maxPendingBytes: 1e6 },
    (_ms, run) => {
      tick = /** @type {never} */ (run);
      return () => undefined;
    },
  );
  streams.open(
    {
      write(frame) {
        bytes += frame.length;
      },
      pendingBytes: () => 0,
      drop: () => undefined,
      end: () => undefined,
    },
    undefined,
  );

  const heapMiB = [];
  const start = performance.now();
  let stateBytes = 0;
  for (let hour = 0; hour < HOURS; hour += 1) {
    for (let i = 0; i < PER_HOUR; i += 1) {
      nowMs += STEP_MS;
      chronicle.tell(eventAt(hour * PER_HOUR + i, nowMs));
      if (i % 10 === 9) tick();
    }
    stateBytes = JSON.stringify(state()).length;
    gc();
    heapMiB.push(process.memoryUsage().heapUsed / 2 ** 20);
  }
  const elapsedMs = performance.now() - start;
  const { events, history } = state();
  streams.close();
  const sent = HOURS * PER_HOUR;
  if (events.at(-1)?.seq !== sent || events.length !== 1000 || history.length !== 1000)
    throw new Error('events were lost, or too many kept');
  return { events: sent, heapMiB, elapsedMs, lines, bytes, stateBytes };
}

/** Of all kinds in turn, about ever new tables and addresses. @param {number} n @param {number} atMs */
function eventAt(n, atMs) {
  const address = `10.${n % 200}.${(n >> 8) % 200}.7:5000`;
  switch (n % 6) {
    case 0:
    case 3: {
      const changes = ['write', 'commit'].map((rpc) => ({
        rpc,
        table: String(n - (n % 6)),
        before: n % 6 === 0 ? null : 60,
        after: n % 6 === 0 ? 60 : null,
        qps: 80,
      }));
      const event = {
        level: n % 6 === 0 ? 1 : 0,
        actions: [],
        changes,
        changed: changes.length,
        reason: { kind: 'busy', count: 5, overMs: 3000 },
        atMs,
      };
      return /** @type {never} */ ({ name: n % 6 === 0 ? 'upgrade' : 'downgrade', event });
    }
    case 1: {
      const event = { address, reason: 'failures', failures: 3, retryAfterMs: 30_000, atMs };
      return /** @type {never} */ ({ name: 'circuit-open', event });
    }
    case 4:
      return /** @type {never} */ ({
        name: 'circuit-closed',
        event: { address, reason: 'probed', atMs },
      });
    case 2:
      return /** @type {never} */ ({ name: 'config', event: { version: n } });
    default:
      return /** @type {never} */ ({
        name: 'calls-refused',
        event: { rpc: 'write', stage: 'host', refused: n },
      });
  }
}
