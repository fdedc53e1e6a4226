// The real server in a process of its own, in a directory of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ENTRY = fileURLToPath(new URL('../../dist/adapters/kv-server-main.js', import.meta.url));
/** Of /proc: clock ticks of a second. */
const TICKS = 100;

/** @param {readonly string[]} args */
export async function startBenchServer(args) {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-bench-kv-'));
  const child = spawn(process.execPath, [ENTRY, '--dir', dir, '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve) => child.once('exit', resolve));
  /** @type {string} */
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, where] = /^listening on (.+)$/.exec(line) ?? [];
      if (where !== undefined) resolve(where);
    });
    void exited.then((code) => reject(new Error(`the server ended with ${code}`)));
  });
  return {
    address,
    /** What all its threads have used, ms; NaN where /proc is not. */
    cpuMs() {
      try {
        const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
        return ((Number(fields?.[11]) + Number(fields?.[12])) * 1000) / TICKS;
      } catch {
        return Number.NaN;
      }
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
