// npm run bench:runtime [-- --json FILE]
// The figures that are not about one decision. Each part in a process of its own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeEnvironment, environment } from './harness/environment.mjs';
import { inFreshProcess } from './harness/sampling.mjs';
import { spread } from './harness/statistics.mjs';

const STARTS = 9;
const { values } = parseArgs({ options: { json: { type: 'string' } } });

const env = environment();
console.log(describeEnvironment(env));

/** @typedef {Record<'importMs' | 'createMs' | 'attachMs' | 'createToAttachMs', number>} Start */
/** @type {Start[]} */
const starts = [];
for (let i = 0; i < STARTS; i += 1) {
  starts.push(/** @type {Start} */ (await inFreshProcess('../runtime/start.mjs')));
}
console.log(`\nStart, ${STARTS} processes, ms: median (min..max)`);
/** @param {keyof Start} key @param {string} about */
const startLine = (key, about) => {
  const { median, min, max } = spread(starts.map((start) => start[key]));
  console.log(`  ${about}: ${ms(median)} (${ms(min)}..${ms(max)})`);
};
startLine('importMs', 'import of the package');
startLine('createToAttachMs', 'createRuntime to the first attach, aim < 150');

/** @type {Record<string, number>} */
const idle = /** @type {never} */ (await inFreshProcess('../runtime/idle.mjs'));
console.log('\nIdle, share of one core over 5 s');
console.log(`  a process that does nothing: ${percent(idle['processAlone'])}`);
console.log(`  with an idle runtime, aim < 1 %: ${percent(idle['idle'])}`);
console.log(`  with tables enabled, none throttled: ${percent(idle['tablesEnabled'])}`);
console.log(`  with a coarse limiter in use: ${percent(idle['coarseLimiter'])}`);

/** @type {{ waiters: number, runs: Record<string, number>[] }} */
const waiters = /** @type {never} */ (await inFreshProcess('../runtime/waiters.mjs'));
console.log(`\n${waiters.waiters} waiters on one limiter`);
for (const run of waiters.runs) {
  console.log(
    `  at ${run['qps']}/s: ${run['callbacksPerGrant']?.toFixed(3)} timer callbacks per grant (aim <= 2), ` +
      `${run['aborted']} aborted in ${ms(run['abortAllMs'])} ms (aim < 200), ` +
      `${run['permitsTakenByAborted']} permits taken by them`,
  );
}

/** @type {Record<string, number>} */
const pairs = /** @type {never} */ (await inFreshProcess('../runtime/pairs.mjs'));
console.log(`\n${pairs['pairs']} tracked pairs`);
console.log(
  `  sample ${ms(pairs['sampleMs'])} ms + top-k ${ms(pairs['topKMs'])} ms, together ${ms(pairs['bothMs'])} ms, ` +
    `worst ${ms(pairs['worstMs'])} ms (aim < 20)`,
);
console.log(`  ${pairs['arenaBytesEach']?.toFixed(1)} bytes of arena each (aim <= 256)`);

/** @type {Record<string, { qps: number, error: number }>} */
const rates = /** @type {never} */ (await inFreshProcess('../runtime/rate-error.mjs'));
console.log(
  '\nLong-run rate error, 0.1/s to 1,000,000/s in virtual time, the worst (aim <= 0.1 %)',
);
for (const [kind, { qps, error }] of Object.entries(rates)) {
  console.log(`  ${kind}: ${(error * 100).toFixed(4)} % at ${qps}/s`);
}

if (values.json !== undefined) {
  const file = resolve(values.json);
  mkdirSync(dirname(file), { recursive: true });
  const all = { environment: env, starts, idle, waiters, pairs, rates };
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  console.log(`\n${file}`);
}

/** @param {number | undefined} value */
function ms(value = Number.NaN) {
  return value.toFixed(value < 10 ? 2 : 0);
}

/** @param {number | undefined} share */
function percent(share = Number.NaN) {
  return `${(share * 100).toFixed(2)} %`;
}
