// npm run bench:buckets [-- --json FILE] [--rounds N]
// ns per decision of one bucket, beside what else there is, in one run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BUCKET_RATIOS, BUCKET_ROWS } from './bucket-rows.mjs';
import { describeEnvironment, environment } from './harness/environment.mjs';
import { takeSamples } from './harness/sampling.mjs';
import { pairedRatios, spread } from './harness/statistics.mjs';

const { values } = parseArgs({
  options: { json: { type: 'string' }, rounds: { type: 'string', default: '7' } },
});
const rounds = Number(values.rounds);
if (!Number.isSafeInteger(rounds) || rounds < 1) {
  throw new RangeError(`--rounds must be an integer >= 1, got ${values.rounds}`);
}

const env = environment();
console.log(describeEnvironment(env));
console.log(`${rounds} samples of each row, each in a fresh process, in rotated order\n`);
const samples = await takeSamples(BUCKET_ROWS, rounds, (done, all, { name }) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done + 1} of ${all}: ${name}`);
});
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');

/** @param {string} name ns per decision, one a round */
const times = (name) => (samples.get(name) ?? []).map(({ nsPerOp }) => nsPerOp);

/** @param {string} name */
const threadsOf = (name) => samples.get(name)?.[0]?.threads ?? 1;

const rows = BUCKET_ROWS.map(({ name }) => {
  const nsPerOp = spread(times(name)).median;
  return {
    name,
    threads: threadsOf(name),
    nsPerOp,
    opsPerSecond: 1e9 / nsPerOp,
  };
});

console.log(line('', 'threads', 'ns/op', 'min..max', 'M op/s'));
for (const { name, threads, nsPerOp, opsPerSecond } of rows) {
  const { min, max } = spread(times(name));
  const range = `${digits(min)}..${digits(max)}`;
  console.log(line(name, threads, digits(nsPerOp), range, digits(opsPerSecond / 1e6)));
}
for (const [name, taken] of samples) {
  const crowded = taken.filter(
    ({ cores = threadsOf(name), threads }) => cores < 0.8 * threads,
  ).length;
  if (crowded > 0) {
    console.log(
      `${name}: in ${crowded} of ${taken.length} samples the threads had to share a core`,
    );
  }
}
console.log('\nRatios of the same round, median (min..max), and what was aimed at:');
const ratios = BUCKET_RATIOS.map(({ about, aim, above, below }) => {
  const fastest = (/** @type {readonly string[]} */ names) =>
    Array.from({ length: rounds }, (_, round) =>
      Math.min(...names.map((n) => times(n)[round] ?? NaN)),
    );
  const ratio = pairedRatios(fastest(above), fastest(below));
  const { median, min, max } = ratio;
  console.log(`  ${about}: ${digits(median)} (${digits(min)}..${digits(max)}), aim ${aim}`);
  return { about, aim, ...ratio };
});

if (values.json !== undefined) {
  const file = resolve(values.json);
  mkdirSync(dirname(file), { recursive: true });
  const raw = Object.fromEntries(samples);
  writeFileSync(
    file,
    `${JSON.stringify({ rows, ratios, environment: env, samples: raw }, null, 2)}\n`,
  );
  console.log(`\n${file}`);
}

/** @param {...(string | number)} cells */
function line(...cells) {
  const [name, ...rest] = cells;
  return `${String(name).padEnd(24)}${rest.map((cell) => String(cell).padStart(14)).join('')}`;
}

/** Three digits that count. @param {number} value */
function digits(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
