import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SQL_USAGE, TOP_USAGE, USAGE } from '../../src/cli/usage.js';
import { type Outcome, run } from './command-process.js';

// The command out of the packed package, as npx starts it, with what the package itself depends on and no more.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
let dir: string;
let command: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'spillway-packed-'));
  const pack = ['pack', ROOT, '--ignore-scripts', '--json', '--pack-destination', dir];
  const { stdout } = await run('npm', pack, env);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run('tar', ['-xzf', join(dir, filename), '-C', dir], env);
  const bin = join(dir, 'package', manifest('package/package.json').bin?.['spillway'] ?? '');
  // As npm does when it installs.
  chmodSync(bin, 0o755);
  command = join(dir, 'spillway');
  symlinkSync(bin, command);
  mkdirSync(join(dir, 'node_modules'));
  for (const name of Object.keys(manifest('package/package.json').dependencies)) {
    symlinkSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name));
  }
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Manifest {
  readonly version: string;
  readonly bin?: Record<string, string>;
  readonly dependencies: Record<string, string>;
}

function manifest(file: string): Manifest {
  return JSON.parse(readFileSync(join(dir, file), 'utf8')) as Manifest;
}

function spillway(...args: string[]): Promise<Outcome> {
  return run(command, args, env);
}

it('says its version, and how it is used', async () => {
  const { version } = manifest('package/package.json');
  expect(await spillway('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(await spillway()).toEqual({ code: 0, stdout: USAGE, stderr: '' });
  expect((await spillway('help', 'sql')).stdout).toBe(SQL_USAGE);
  expect((await spillway('top', '--help')).stdout).toBe(TOP_USAGE);
});

it('tells wrong usage from failure by its exit code', async () => {
  const wrong = await spillway('top');
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toBe(
    'spillway: --backends URL,... is missing, and so is SPILLWAY_BACKENDS (see spillway help)\n',
  );
});

it('says which package the SQL engine needs', async () => {
  const backends = ['--backends', 'http://127.0.0.1:9'];
  const stderr =
    'spillway: spillway sql needs the package @electric-sql/pglite: npm install @electric-sql/pglite\n';
  expect(await spillway('sql', 'SELECT 1', ...backends)).toEqual({ code: 1, stdout: '', stderr });
  const listen = await spillway('sql', '--listen', '127.0.0.1:0', ...backends);
  expect(listen).toEqual({ code: 1, stdout: '', stderr });
});

it('looks at backends without any optional package', async () => {
  const args = ['top', '--backends', 'http://127.0.0.1:1234', '--interval', '0.1'];
  const { code, stdout } = await spillway(...args);
  expect(code).toBe(1);
  expect(stdout).toContain('unreachable http://127.0.0.1:1234');
});
