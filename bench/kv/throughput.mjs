// Records that one client has acknowledged per second: 8 buckets, 100 bytes each (a key of 8, a value of 92), completion
// `log`. KV_BENCH is JSON: `records`, `options` of the writer; `raw`: no writer, ready-made batches instead.
import { Client, credentials } from '@grpc/grpc-js';
import { createKvWriter } from '../../dist/adapters/kv-client.js';
import { loadKvService } from '../../dist/adapters/kv-protocol.js';
import { startBenchServer } from './bench-server.mjs';

const BUCKETS = 8;
const VALUE = Buffer.alloc(92, 'v');
const RAW_BATCH = 500;
/** Keys that are read back of each bucket. */
const PROBES = 200;

/** @typedef {{ put(from: number, to: number): Promise<void>, close(): Promise<void> }} Load */

export async function measure() {
  const { records, raw = false, options = {} } = JSON.parse(process.env['KV_BENCH'] ?? '{}');
  const server = await startBenchServer(['--tables', `t:${BUCKETS}`]);
  try {
    const load = raw ? rawLoad(server.address) : await writerLoad(server.address, options);
    // Both processes have to be compiled before they are timed.
    const warm = Math.round(records / 8);
    await load.put(0, warm);
    const [cpu, serverMs] = [process.cpuUsage(), server.cpuMs()];
    const start = performance.now();
    await load.put(warm, records);
    const elapsedMs = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    const serverCpuMs = server.cpuMs() - serverMs;
    await load.close();
    await readBack(server.address, records);
    const timed = records - warm;
    return {
      recordsPerSecond: timed / (elapsedMs / 1000),
      clientUs: (user + system) / timed,
      serverUs: (serverCpuMs * 1000) / timed,
    };
  } finally {
    await server.stop();
  }
}

/** @param {number} i */
function keyOf(i) {
  const key = Buffer.alloc(8);
  key.writeUInt32BE(i, 4);
  return key;
}

/** @param {string} target @param {object} options @returns {Promise<Load>} */
async function writerLoad(target, options) {
  const writer = await createKvWriter({ target, ...options });
  /** @type {unknown} */
  let failure;
  const fail = (/** @type {unknown} */ error) => {
    failure ??= error;
  };
  return {
    async put(from, to) {
      for (let i = from; i < to; i += 1) {
        writer.put('t', keyOf(i), VALUE, { bucket: i % BUCKETS }).catch(fail);
        if (i % 256 === 0) await writer.ready();
      }
      await writer.flush();
      if (failure !== undefined) throw failure;
      const { acknowledged } = writer.stats();
      if (acknowledged !== to) throw new Error(`${acknowledged} of ${to} are acknowledged`);
    },
    close: () => writer.close(),
  };
}

/** What gRPC and the server do without a writer: one batch of each bucket at a time. @param {string} target @returns {Load} */
function rawLoad(target) {
  const call = caller(target);
  return {
    async put(from, to) {
      const one = async (/** @type {number} */ bucket) => {
        const first = from + ((bucket - (from % BUCKETS) + BUCKETS) % BUCKETS);
        for (let i = first; i < to; i += RAW_BATCH * BUCKETS) {
          const rows = [];
          for (let j = i; j < to && rows.length < RAW_BATCH; j += BUCKETS) {
            rows.push({ key: keyOf(j), value: VALUE });
          }
          const { buckets } = await call('PutKv', {
            table: 't',
            buckets: [{ bucket, records: rows }],
          });
          if (buckets[0].errorCode !== 0) throw new Error(buckets[0].errorMessage);
        }
      };
      await Promise.all(Array.from({ length: BUCKETS }, (_, bucket) => one(bucket)));
    },
    async close() {
      call.close();
    },
  };
}

/** @param {string} target @param {number} records */
async function readBack(target, records) {
  const call = caller(target);
  const step = Math.max(BUCKETS, Math.floor(records / PROBES / BUCKETS) * BUCKETS);
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const keys = [];
    for (let i = bucket; i < records; i += step) keys.push(keyOf(i));
    const { values } = await call('GetKv', { table: 't', bucket, keys });
    const found = values.filter((/** @type {{ value: Buffer }} */ one) => VALUE.equals(one.value));
    if (found.length !== keys.length) throw new Error(`${keys.length - found.length} are missing`);
  }
  call.close();
}

/** @param {string} target */
function caller(target) {
  const service = loadKvService();
  const client = new Client(target, credentials.createInsecure());
  /** @param {string} name @param {object} request @returns {Promise<any>} */
  const call = (name, request) => {
    const method = service[name];
    if (method === undefined) throw new TypeError(`no method ${name}`);
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        (error, response) => (error === null ? resolve(response) : reject(error)),
      );
    });
  };
  return Object.assign(call, { close: () => client.close() });
}
