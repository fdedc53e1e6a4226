// npm run bench:kv [-- --json FILE] [--rounds N] [--records N]
// Put throughput of one client through the real server, what the throttle stage costs a batch, and what is left of
// windows whose buckets are gone.
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeEnvironment, environment } from './harness/environment.mjs';
import { inFreshProcess } from './harness/sampling.mjs';
import { pairedRatios, spread } from './harness/statistics.mjs';

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    records: { type: 'string', default: '400000' },
  },
});
const rounds = atLeastOne('--rounds', values.rounds);
const records = atLeastOne('--records', values.records);

/** @typedef {{ recordsPerSecond: number, clientUs: number, serverUs: number }} Run */
/** @type {{ name: string, about: string, params: object }[]} */
const ROWS = [
  { name: 'writer', about: 'createKvWriter with its defaults', params: {} },
  {
    name: 'raw',
    about: 'no writer: ready-made batches of 500, one per bucket at a time',
    params: { raw: true },
  },
];

const env = environment();
console.log(describeEnvironment(env));
console.log(
  `${rounds} rounds, each with a fresh client and a fresh server; ${records} records of 100 bytes\n`,
);
/** @type {Map<string, (Run & { load: number })[]>} */
const runs = new Map(ROWS.map(({ name }) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const row of [...ROWS.slice(round % ROWS.length), ...ROWS.slice(0, round % ROWS.length)]) {
    const load = loadavg()[0] ?? Number.NaN;
    const KV_BENCH = JSON.stringify({ records, ...row.params });
    const run = /** @type {Run} */ (await inFreshProcess('../kv/throughput.mjs', { KV_BENCH }));
    runs.get(row.name)?.push({ ...run, load });
  }
}
/** @param {string} name @param {keyof Run} field */
const figures = (name, field) => (runs.get(name) ?? []).map((run) => run[field]);

console.log(
  `${''.padEnd(8)}${['records/s', 'min..max', 'client us', 'server us'].map(cell).join('')}`,
);
const rows = ROWS.map(({ name, about }) => {
  const { median, min, max } = spread(figures(name, 'recordsPerSecond'));
  const clientUs = spread(figures(name, 'clientUs')).median;
  const serverUs = spread(figures(name, 'serverUs')).median;
  const cells = [
    digits(median),
    `${digits(min)}..${digits(max)}`,
    digits(clientUs),
    digits(serverUs),
  ];
  console.log(`${name.padEnd(8)}${cells.map(cell).join('')}  ${about}`);
  return { name, about, recordsPerSecond: median, min, max, clientUs, serverUs };
});
console.log('us: processor time of all threads for one record');
const ratio = pairedRatios(
  figures('writer', 'recordsPerSecond'),
  figures('raw', 'recordsPerSecond'),
);
console.log(`writer / raw: ${digits(ratio.median)} (${digits(ratio.min)}..${digits(ratio.max)})\n`);

const stages = [];
for (let round = 0; round < rounds; round += 1) {
  stages.push(
    /** @type {{ nsPerOp: number }} */ (await inFreshProcess('../kv/throttle-stage.mjs')),
  );
}
const stage = spread(stages.map(({ nsPerOp }) => nsPerOp / 1000));
const dropped = /** @type {{ throttled: number, left: number, elapsedMs: number }} */ (
  await inFreshProcess('../kv/dropped.mjs')
);
const goals = [
  goal(
    'records/s, one client, 8 buckets, completion log',
    rows[0]?.recordsPerSecond ?? Number.NaN,
    '>=',
    50_000,
  ),
  goal(
    `throttle stage, us a batch (${digits(stage.min)}..${digits(stage.max)})`,
    stage.median,
    '<=',
    2,
  ),
  goal(`windows left of ${dropped.throttled} dropped buckets`, dropped.left, '<=', 0),
];
for (const { about, got, bound, aim, met } of goals) {
  console.log(`${about}: ${digits(got)}, aim ${bound} ${aim}: ${met ? 'met' : 'MISSED'}`);
}
console.log(`(the 10,000 were dropped in ${digits(dropped.elapsedMs)} ms)`);

if (values.json !== undefined) {
  const file = resolve(values.json);
  mkdirSync(dirname(file), { recursive: true });
  const all = {
    rows,
    ratio,
    stage,
    dropped,
    goals,
    environment: env,
    samples: Object.fromEntries(runs),
  };
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  console.log(`\n${file}`);
}

/** @param {string} about @param {number} got @param {'<=' | '>='} bound @param {number} aim */
function goal(about, got, bound, aim) {
  return { about, got, bound, aim, met: bound === '<=' ? got <= aim : got >= aim };
}

/** @param {string} option @param {string} text */
function atLeastOne(option, text) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new RangeError(`${option} must be an integer >= 1, got ${text}`);
}

/** @param {string} text */
function cell(text) {
  return text.padStart(18);
}

/** Three digits that count. @param {number} value */
function digits(value) {
  return Math.abs(value) >= 100 || value === 0 ? value.toFixed(0) : value.toPrecision(3);
}
