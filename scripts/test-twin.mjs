// The suite once more with the Atomics twin in the place of the WebAssembly kernel; vitest.config.ts says what is left out.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const vitest = join(
  dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
const { status } = spawnSync(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, SPILLWAY_KERNEL: 'twin' },
});
process.exitCode = status ?? 1;
