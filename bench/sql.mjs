// npm run bench:sql [-- --json FILE] [--rounds N] [--queries N]
// How long the first row takes after the start, beside PGlite.create(), and a query with 1,000 rows after it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MessageFrames } from '../dist/cli/sql/message-frames.js';
import { query } from '../dist/cli/sql/wire-messages.js';
import { describeEnvironment, environment } from './harness/environment.mjs';
import { pairedRatios, spread } from './harness/statistics.mjs';

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    queries: { type: 'string', default: '100' },
  },
});
const [rounds, queries] = [values.rounds, values.queries].map(Number);
if (!Number.isSafeInteger(rounds) || !Number.isSafeInteger(queries) || !rounds || !queries) {
  throw new RangeError('--rounds and --queries must be integers >= 1');
}
const BACKENDS = 3;
const ROWS = 1000;
const START_GOAL = 1.3;
const QUERY_GOAL_MS = 50;
const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CREATE = fileURLToPath(new URL('sql/create-engine.mjs', import.meta.url));
const SQL = 'SELECT * FROM information_schema.backend_ms_rpc_table_throttlers ORDER BY qps_limit';

/** @param {number} backend */
function stateOf(backend) {
  const rows = Math.floor(ROWS / BACKENDS) + (backend < ROWS % BACKENDS ? 1 : 0);
  const limits = Array.from({ length: rows }, (_, i) => ({
    rpc: 'commit_rowset',
    table: String(10_000 + i),
    qpsLimit: 1 + i / 7,
    currentQps: i / 8,
    sinceMs: 1000,
  }));
  return {
    schema: 1,
    backendId: String(backend),
    runtimeId: `runtime-${backend}`,
    pid: 1,
    hostname: 'bench',
    startedAt: '2026-03-01T00:00:00.000Z',
    now: '2026-03-01T00:01:00.000Z',
    atMs: 60_000,
    runtime: {
      configVersion: 1,
      level: 1,
      threads: 4,
      dryRun: { host: false, tables: false },
      limits,
      pressure: [],
      rpcs: [],
      circuits: [],
    },
    throttled: limits.map(({ rpc, table }) => ({
      rpc,
      table,
      qpsBefore: null,
      changedMs: 1000,
      steps: 1,
    })),
    throttledTotal: limits.length,
    history: [],
    stores: [],
  };
}

/** @param {string[]} args @returns {Promise<{ ms: number, text: string }>} until its first output */
async function firstOutput(args) {
  const begun = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [chunk] = await once(child.stdout, 'data');
  const ms = performance.now() - begun;
  await once(child, 'exit');
  return { ms, text: String(chunk) };
}

const env = environment();
console.log(describeEnvironment(env));
const servers = await Promise.all(
  Array.from({ length: BACKENDS }, async (_, backend) => {
    const body = JSON.stringify(stateOf(backend));
    const server = createServer((_request, response) => response.end(body));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }),
);
const urls = servers.map((server) => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
});

/** @type {number[]} */
const createMs = [];
/** @type {number[]} */
const firstRowMs = [];
for (let round = 0; round < rounds; round += 1) {
  const create = async () => createMs.push(Number((await firstOutput([CREATE])).text));
  const first = async () => {
    const { ms, text } = await firstOutput([MAIN, 'sql', SQL, '--csv', '--backends', urls.join()]);
    if (!text.startsWith('be_id,')) throw new Error(`not the rows: ${text}`);
    firstRowMs.push(ms);
  };
  // In turn, so that neither always meets the warmer disk.
  for (const one of round % 2 === 0 ? [create, first] : [first, create]) await one();
}

const child = spawn(
  process.execPath,
  [MAIN, 'sql', '--listen', '127.0.0.1:0', '--backends', urls.join()],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const [line] = await once(child.stdout, 'data');
const port = Number(/:(\d+)\//.exec(String(line))?.[1]);
const socket = connect(port, '127.0.0.1');
const frames = new MessageFrames(2 ** 30);
/** @type {import('../dist/cli/sql/message-frames.js').Frame[]} */
let seen = [];
let wake = () => {};
socket.on('data', (chunk) => {
  seen.push(...frames.push(chunk));
  if (seen.at(-1)?.type === 'Z') wake();
});
/** @param {Uint8Array} bytes */
async function ask(bytes) {
  seen = [];
  const ready = new Promise((resolved) => {
    wake = () => resolved(undefined);
  });
  socket.write(bytes);
  await ready;
  return seen.filter(({ type }) => type === 'D').length;
}
await ask(Buffer.from('\0\0\0\x11\0\x03\0\0user\0me\0\0', 'latin1'));
/** @type {number[]} */
const queryMs = [];
for (let i = 0; i < queries; i += 1) {
  const begun = performance.now();
  const rows = await ask(query(SQL));
  queryMs.push(performance.now() - begun);
  if (rows !== ROWS) throw new Error(`${rows} rows, not ${ROWS}`);
}
socket.destroy();
child.kill();
await once(child, 'exit');
for (const server of servers) {
  server.closeAllConnections();
  server.close();
}

const ratio = pairedRatios(firstRowMs, createMs);
const [create, first, asked] = [createMs, firstRowMs, queryMs].map(spread);
/** @param {{ median: number, min: number, max: number } | undefined} all @param {number} digits */
const show = (all, digits) =>
  all === undefined
    ? '-'
    : `${all.median.toFixed(digits)} (${all.min.toFixed(digits)} to ${all.max.toFixed(digits)})`;
console.log(`
PGlite.create() and one query, ms       ${show(create, 0)}
spillway sql, process start to rows, ms ${show(first, 0)}
ratio of the two, goal ${START_GOAL}              ${show(ratio, 2)}
query, ${ROWS} rows of ${BACKENDS} backends, ms     ${show(asked, 1)}, goal ${QUERY_GOAL_MS}`);
if (values.json !== undefined) {
  const file = resolve(values.json);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `${JSON.stringify({ env, createMs, firstRowMs, queryMs, ratio, create, first, asked }, null, 2)}\n`,
  );
  console.log(`\nwritten to ${file}`);
}
