// Samples: each in a fresh process, so that no row inherits the heap or the optimised code of another.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * What one process measured. With several threads `nsPerOp` is the time per operation of all of them together, and `cores`
 * how many cores they had: less than they are, and they took turns rather than contended.
 * @typedef {{ threads: number, ops: number, nsPerOp: number, cores?: number }} Sample
 */

/**
 * A row of a benchmark; one module of its own.
 * @typedef {{ name: string, about: string, module: string, env?: Record<string, string> }} Row
 */

const ENTRY = fileURLToPath(new URL('./sample-process.mjs', import.meta.url));

/** The order is rotated by one from round to round, so that no row always runs after the same one.
 * @param {readonly Row[]} rows
 * @param {number} rounds
 * @param {(done: number, all: number, row: Row) => void} onProgress
 * @returns {Promise<Map<string, Sample[]>>} by the row's name, one sample a round
 */
export async function takeSamples(rows, rounds, onProgress) {
  /** @type {Map<string, Sample[]>} */
  const samples = new Map(rows.map(({ name }) => [name, []]));
  let done = 0;
  for (let round = 0; round < rounds; round += 1) {
    const shift = round % rows.length;
    for (const row of [...rows.slice(shift), ...rows.slice(0, shift)]) {
      onProgress(done, rows.length * rounds, row);
      samples.get(row.name)?.push(await sampleOnce(row));
      done += 1;
    }
  }
  return samples;
}

/** @param {Row} row @returns {Promise<Sample>} */
async function sampleOnce({ module, env }) {
  return /** @type {Sample} */ (await inFreshProcess(module, env));
}

/** What `measure()` of a module gives, in a process of its own.
 * @param {string} module relative to rows/
 * @param {Record<string, string>} [env]
 * @returns {Promise<unknown>}
 */
export function inFreshProcess(module, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [ENTRY, module], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(out));
      else reject(new Error(`${module} ended with ${code}`));
    });
  });
}
