// A backend with something on every part of its dashboard: a service that is flooded, an address that is down, a bucket under pressure.
import { attach, BusyError, createRuntime } from '../dist/index.js';

const TICK_MS = 20;
const TABLES = 20;
/** Calls that the service can do in one second; a refusal costs it a fifth of one. */
const CAPACITY = 300;

/** @param {number} calmMs before the flood. */
export async function startScreenshotLoad(calmMs) {
  const runtime = await createRuntime({
    backendId: 10_001,
    host: {
      rpcs: {
        prepare_rowset: { qpsPerCore: 500 },
        commit_rowset: { qpsPerCore: 500 },
        get_tablet_stats: { qpsPerCore: 30 },
      },
    },
    tables: {
      enabled: true,
      rpcs: ['prepare_rowset', 'commit_rowset'],
      windowMs: 2000,
      upgradeIntervalMs: 4000,
      downgradeIntervalMs: 6000,
    },
    waiting: { maxWaitMs: 200 },
  });
  const gate = attach();
  const begun = performance.now();
  let room = CAPACITY / 10;
  let filledMs = begun;
  const serve = async () => {
    const nowMs = performance.now();
    room = Math.min(CAPACITY / 10, room + ((nowMs - filledMs) * CAPACITY) / 1000);
    filledMs = nowMs;
    if (room < 1) {
      room = Math.max(0, room - 0.2);
      throw new BusyError('the service behind is overloaded');
    }
    room -= 1;
  };
  /** @param {Promise<unknown>} call */
  const quiet = (call) => void call.catch(() => undefined);
  /** Calls that are due, by what makes them. @type {Map<string, number>} */
  const due = new Map();
  /** @param {string} name @param {number} perSecond @param {() => void} call */
  const at = (name, perSecond, call) => {
    const count = (due.get(name) ?? 0) + (perSecond * TICK_MS) / 1000;
    due.set(name, count % 1);
    for (let i = 1; i <= count; i++) call();
  };
  const timer = setInterval(() => {
    const isFlood = performance.now() - begun > calmMs;
    for (let rank = 1; rank <= TABLES; rank++) {
      const table = 10_000 + rank * 43;
      const perSecond = 45 / rank + (isFlood && rank <= 2 ? 110 / rank : 0);
      for (const rpc of ['prepare_rowset', 'commit_rowset'])
        at(`${rpc} ${table}`, perSecond, () => quiet(gate.call({ rpc, table }, serve)));
    }
    at('stats', 70, () => quiet(gate.call({ rpc: 'get_tablet_stats' }, async () => undefined)));
    if (isFlood) {
      const options = { rpc: 'prepare_rowset', address: '10.0.4.17:8060' };
      const fail = () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }));
      at('down', 1, () => quiet(gate.call(options, fail)));
      at('pressure', 10, () => gate.pressure('orders/3').report(0.82));
    }
  }, TICK_MS);
  return {
    runtime,
    async stop() {
      clearInterval(timer);
      await runtime.close({ deadlineMs: 0 });
    },
  };
}
