// npm run bench:observe [-- --json FILE] [--rounds N]
// What everybody who looks adds to a call, and what a day of events leaves in memory.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeEnvironment, environment } from './harness/environment.mjs';
import { inFreshProcess, takeSamples } from './harness/sampling.mjs';
import { spread } from './harness/statistics.mjs';

/**
 * @typedef {import('./harness/sampling.mjs').Sample & {
 *   off: number[], on: number[], ratios: number[], lookMs: number[], core: number[],
 *   bytesOff: number, bytesOn: number, messagesOff: number, messagesOn: number,
 * }} Observed
 */

const { values } = parseArgs({
  options: { json: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
if (!Number.isSafeInteger(rounds) || rounds < 1) {
  throw new RangeError(`--rounds must be an integer >= 1, got ${values.rounds}`);
}

const module = '../observe/observed-calls.mjs';
const ROWS = [
  {
    name: 'observed',
    about: 'listeners, channels, logger, state and scrape once a second, a dashboard over HTTP',
    module,
    env: { OBSERVE: 'all' },
  },
  { name: 'nothing', about: 'nobody, twice: the noise', module, env: { OBSERVE: 'nothing' } },
];
const env = environment();
console.log(describeEnvironment(env));
console.log(`${rounds} processes of each row, in rotated order, each with and without in turn\n`);
const samples = /** @type {Map<string, Observed[]>} */ (
  await takeSamples(ROWS, rounds, (done, all, { name }) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done + 1} of ${all}: ${name}`);
  })
);
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');

const rows = ROWS.map(({ name, about }) => {
  const taken = samples.get(name) ?? [];
  const all = (/** @type {(one: Observed) => number | number[]} */ read) =>
    spread(taken.flatMap(read));
  return {
    name,
    about,
    offNs: all(({ off }) => off),
    onNs: all(({ on }) => on),
    ratio: all(({ ratios }) => ratios),
    lookMs: all(({ lookMs }) => lookMs),
    core: all(({ core }) => core),
    extraBytes: all(({ bytesOff, bytesOn }) => Math.round(bytesOn - bytesOff)),
    bytes: all(({ bytesOff }) => bytesOff),
    extraMessages: all(({ messagesOff, messagesOn }) => messagesOn - messagesOff),
  };
});
for (const row of rows) {
  const { name, about, offNs, onNs, ratio, lookMs, core, bytes, extraBytes, extraMessages } = row;
  console.log(`${name}: ${about}`);
  console.log(
    `  ns of the thread per call: without ${range(offNs)}, with ${range(onNs)}, ratio ${range(ratio)}`,
  );
  console.log(
    `  looking takes ${range(lookMs)} ms of it a second; it had ${range(core)} of a core`,
  );
  console.log(
    `  bytes/call ${range(bytes)}, more ${range(extraBytes)}; more messages ${range(extraMessages)}`,
  );
}

/** @type {{ events: number, heapMiB: number[], elapsedMs: number, lines: number, bytes: number, stateBytes: number }} */
const day = /** @type {never} */ (await inFreshProcess('../observe/day-of-events.mjs'));
const half = day.heapMiB.length / 2;
const growthMiB = Math.max(...day.heapMiB.slice(half)) - Math.max(...day.heapMiB.slice(0, half));
console.log(
  `\n${day.events} events, a day of ten a second: heap ${digits(day.heapMiB[0] ?? Number.NaN)} MiB after an hour, ` +
    `${digits(day.heapMiB.at(-1) ?? Number.NaN)} MiB after the day; ${day.lines} lines, ${digits(day.bytes / 2 ** 20)} MiB of ` +
    `stream, a state of ${digits(day.stateBytes / 1024)} KiB; ${digits((day.elapsedMs / day.events) * 1000)} us each`,
);

const observed = rows[0];
const goals = [
  goal('gate.call, observed / not', observed?.ratio.median, 1.05),
  goal('more bytes per call', observed?.extraBytes.median, 0),
  goal('more messages', observed?.extraMessages.median, 0),
  goal('growth of the heap in the second half of the day, MiB', growthMiB, 0.5),
];
for (const { about, got, aim, met } of goals)
  console.log(`  ${about}: ${digits(got)}, aim <= ${aim}: ${met ? 'met' : 'MISSED'}`);

if (values.json !== undefined) {
  const file = resolve(values.json);
  mkdirSync(dirname(file), { recursive: true });
  const all = { rows, goals, day, environment: env, samples: Object.fromEntries(samples) };
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  console.log(`\n${file}`);
}

/** @param {string} about @param {number | undefined} measured @param {number} aim */
function goal(about, measured, aim) {
  const got = measured ?? Number.NaN;
  return { about, got, aim, met: got <= aim };
}

/** @param {{ median: number, min: number, max: number }} of */
function range({ median, min, max }) {
  return `${digits(median)} (${digits(min)}..${digits(max)})`;
}

/** Three digits that count. @param {number} value */
function digits(value) {
  return Math.abs(value) >= 100 || value === 0 ? value.toFixed(0) : value.toPrecision(3);
}
