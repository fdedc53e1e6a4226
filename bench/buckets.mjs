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

/** Whether the threads of a sample took turns on a core.
 * @param {import('./harness/sampling.mjs').Sample} sample
 */
const isCrowded = ({ threads, cores = threads }) => cores < 0.9 * threads;

/** ns per decision, one a round; NaN for a crowded sample of a row that has others.
 * @param {string} name
 */
const times = (name) => {
  const taken = samples.get(name) ?? [];
  const allCrowded = taken.every(isCrowded);
  return taken.map((sample) => (isCrowded(sample) && !allCrowded ? Number.NaN : sample.nsPerOp));
};

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
  const crowded = taken.filter(isCrowded).length;
  if (crowded > 0) {
    const meaning = crowded === taken.length ? 'it says nothing about contention' : 'left out';
    console.log(
      `${name}: in ${crowded} of ${taken.length} samples two threads shared a core: ${meaning}`,
    );
  }
}
console.log('\nRatios of the same round, median (min..max), and what was aimed at:');
const ratios = BUCKET_RATIOS.map(({ about, aim, above, below }) => {
  const fastest = (/** @type {readonly string[]} */ names) =>
    Array.from({ length: rounds }, (_, round) =>
      Math.min(...names.map((n) => times(n)[round] ?? NaN)),
    );
  const paired = pairedRatios(fastest(above), fastest(below));
  // On a busy machine no round may have them all.
  const ratio = Number.isNaN(paired.median)
    ? pairedRatios([fastestMedian(above)], [fastestMedian(below)])
    : paired;
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

/** @param {readonly string[]} names */
function fastestMedian(names) {
  return Math.min(...rows.filter(({ name }) => names.includes(name)).map((row) => row.nsPerOp));
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
