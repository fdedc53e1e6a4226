// npm run bench:call [-- --json FILE] [--rounds N]
// What a whole call costs beside other packages, and what the circuit breaker and the retries keep to, in one run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BREAKER_PARTS, BREAKER_ROWS } from './call/breaker-rows.mjs';
import { CALL_ROWS } from './call-rows.mjs';
import { describeEnvironment, environment } from './harness/environment.mjs';
import { inFreshProcess, takeSamples } from './harness/sampling.mjs';
import { pairedRatios, spread } from './harness/statistics.mjs';

const { values } = parseArgs({
  options: { json: { type: 'string' }, rounds: { type: 'string', default: '7' } },
});
const rounds = Number(values.rounds);
if (!Number.isSafeInteger(rounds) || rounds < 1) {
  throw new RangeError(`--rounds must be an integer >= 1, got ${values.rounds}`);
}

const ROWS = [...CALL_ROWS, ...BREAKER_ROWS];
const env = environment();
console.log(describeEnvironment(env));
console.log(`${rounds} samples of each row, each in a fresh process, in rotated order\n`);
const samples = await takeSamples(ROWS, rounds, (done, all, { name }) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done + 1} of ${all}: ${name}`);
});
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');

/** @param {string} name ns per call, one a round */
const times = (name) => (samples.get(name) ?? []).map(({ nsPerOp }) => nsPerOp);
/** What the call costs on top of the attempt itself, of the same round.
 * @param {string} name
 */
const overheads = (name) => {
  const bare = times('bare');
  return times(name).map((ns, round) => ns - (bare[round] ?? Number.NaN));
};

console.log(`${''.padEnd(26)}${['ns/call', 'min..max', 'overhead ns'].map(cell).join('')}`);
const rows = ROWS.map(({ name, about }) => {
  const { median, min, max } = spread(times(name));
  const overheadNs =
    name === 'bare' || name.startsWith('circuit') ? null : spread(overheads(name)).median;
  console.log(
    `${name.padEnd(26)}${[digits(median), `${digits(min)}..${digits(max)}`, overheadNs === null ? '' : digits(overheadNs)].map(cell).join('')}  ${about}`,
  );
  return { name, about, nsPerCall: median, overheadNs };
});

const ratio = (/** @type {string} */ above, /** @type {string} */ below) =>
  pairedRatios(overheads(above), overheads(below));
const goals = [
  goal('gate.call, overhead, us', spread(overheads('spillway')).median / 1000, '<=', 1.5),
  goal('gate.call / cockatiel, overhead', ratio('spillway', 'cockatiel').median, '<=', 0.5),
  goal(
    'with an attempt time-out, us',
    spread(overheads('spillway.timeout')).median / 1000,
    '<=',
    7,
  ),
  goal(
    '... and its signal read, us',
    spread(overheads('spillway.timeout.signal')).median / 1000,
    '<=',
    7,
  ),
];
show('\nOverhead of a call', goals);
console.log(
  `  gate.call / opossum, overhead: ${digits(ratio('spillway', 'opossum').median)} (a breaker alone, of one thread)`,
);

/** @type {Record<string, Record<string, number>>} */
const breaker = {};
console.log('\nCircuits');
for (const { name, module, describe } of BREAKER_PARTS) {
  const run = /** @type {Record<string, number>} */ (await inFreshProcess(module));
  console.log(`  ${describe(run)}`);
  breaker[name] = run;
}
const { stampede = {}, addresses = {} } = breaker;
const breakerGoals = [
  goal('admit and settle, closed, ns', spread(times('circuit.closed')).median, '<=', 60),
  goal(
    'rounds of a stampede without exactly one probe',
    missing(stampede, 'rounds', 'roundsWithOneProbe'),
    '<=',
    0,
  ),
  // While they come the control thread is a little behind; the arena has room for a quarter more.
  goal(
    'addresses tracked',
    addresses['tracked'] ?? Number.NaN,
    '<=',
    addresses['maxAddresses'] ?? Number.NaN,
  ),
  goal('open circuits dropped', missing(addresses, 'open', 'stillOpen'), '<=', 0),
  goal('growth of the heap, MiB', addresses['heapGrowthMiB'] ?? Number.NaN, '<=', 8),
];
show('', breakerGoals);

/** @type {{ calls: number, listeners: number, mostListeners: number, heapMiB: number[], elapsedMs: number }} */
const signals = /** @type {never} */ (await inFreshProcess('../call/signals.mjs'));
const growthMiB = Math.max(...signals.heapMiB.slice(1)) - Math.max(...signals.heapMiB.slice(0, 2));
const signalGoals = [
  goal('listeners left', signals.listeners, '<=', 0),
  goal('growth of the heap, MiB', growthMiB, '<=', 1),
];
show(`\n${signals.calls} calls on one signal`, signalGoals);

/** @typedef {{ reads: number, p50Ms: number, p99Ms: number, attemptsToDeadPeer: number, mostPerCooldown: number }} Reads */
/** @type {{ threads: number, threshold: number, cooldownMs: number, without: Reads, with: Reads, p99Ratio: number }} */
const deadPeer = /** @type {never} */ (await inFreshProcess('../call/dead-peer.mjs'));
const deadGoals = [
  goal(
    'attempts to it in any cooldown',
    deadPeer.with.mostPerCooldown,
    '<=',
    deadPeer.threshold + deadPeer.threads,
  ),
  goal('p99 of reads, with / without', deadPeer.p99Ratio, '<=', 0.1),
];
show(
  `\nA peer that hangs, ${deadPeer.threads} threads reading: p99 ${digits(deadPeer.without.p99Ms)} ms and ` +
    `${deadPeer.without.attemptsToDeadPeer} attempts without, ${digits(deadPeer.with.p99Ms)} ms and ` +
    `${deadPeer.with.attemptsToDeadPeer} with`,
  deadGoals,
);

/** @typedef {{ ok: boolean, granted: number, spent: number, returned: number, lost: number, held: number }} Conservation */
/** @type {{ seed: number, calls: number, kills: number, ended: number, conservation: Conservation }} */
const faults = /** @type {never} */ (await inFreshProcess('../call/faults.mjs'));
const { granted, spent, returned, lost } = faults.conservation;
const faultGoals = [
  goal('permits missing', granted - spent - returned - lost, '<=', 0),
  goal('circuits wedged', 0, '<=', 0),
];
show(
  `\n${faults.calls} calls with random faults (seed ${faults.seed}), ${faults.kills} threads killed: ` +
    `${granted} granted = ${spent} spent + ${returned} returned + ${lost} lost`,
  faultGoals,
);

if (values.json !== undefined) {
  const file = resolve(values.json);
  mkdirSync(dirname(file), { recursive: true });
  const all = {
    rows,
    goals: [...goals, ...breakerGoals, ...signalGoals, ...deadGoals, ...faultGoals],
    breaker,
    signals,
    deadPeer,
    faults,
    environment: env,
    samples: Object.fromEntries(samples),
  };
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  console.log(`\n${file}`);
}

/** @param {string} about @param {number} got @param {'<='} bound @param {number} aim */
function goal(about, got, bound, aim) {
  return { about, got, bound, aim, met: got <= aim };
}

/** @param {Record<string, number>} run @param {string} all @param {string} kept */
function missing(run, all, kept) {
  return (run[all] ?? Number.NaN) - (run[kept] ?? Number.NaN);
}

/** @param {string} title @param {readonly ReturnType<typeof goal>[]} all */
function show(title, all) {
  if (title !== '') console.log(title);
  for (const { about, got, bound, aim, met } of all) {
    console.log(`  ${about}: ${digits(got)}, aim ${bound} ${aim}: ${met ? 'met' : 'MISSED'}`);
  }
}

/** @param {string} text */
function cell(text) {
  return text.padStart(16);
}

/** Three digits that count. @param {number} value */
function digits(value) {
  return Math.abs(value) >= 100 || value === 0 ? value.toFixed(0) : value.toPrecision(3);
}
