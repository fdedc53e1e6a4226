/** Runs a function of a test in a process of its own, on the built package. */
import { writeSync } from 'node:fs';

const { body, data, entry } = JSON.parse(/** @type {string} */ (process.argv[2]));
const spillway = await import(entry);
const { run } = await import(
  `data:text/javascript,${encodeURIComponent(`export const run = ${body}`)}`
);

await run({
  spillway,
  entry,
  data,
  /** @param {unknown} value */
  say: (value) => writeSync(1, `${JSON.stringify(value)}\n`),
});
