// What users get is the tarball, so publint and attw look at the tarball. Run after the build.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const packDir = mkdtempSync(join(tmpdir(), 'spillway-pack-'));

/** @param {string} name @param {string[]} args */
function run(name, args) {
  const bin = join(root, 'node_modules', '.bin', name);
  const { status, error } = spawnSync(bin, args, { cwd: root, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${name} found problems in the packed package`);
}

try {
  const packed = execFileSync(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', packDir],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [{ filename }] = JSON.parse(packed);
  const tarball = join(packDir, filename);
  run('publint', ['run', tarball, '--strict']);
  // The package is ESM only: what a CommonJS require resolves to is not judged.
  run('attw', [tarball, '--profile', 'esm-only', '--no-emoji', '--no-color']);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(packDir, { recursive: true, force: true });
}
