/** The command as a process, as users start it. */
import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const MAIN: string = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Far beyond what any of them takes: a stalled machine must not fail a test. */
const PATIENCE_MS = 120_000;

export function runCommand(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Outcome> {
  return run(process.execPath, [MAIN, ...args], {
    PATH: process.env['PATH'] ?? '',
    ...environment,
  });
}

export async function run(
  file: string,
  args: readonly string[],
  environment: Record<string, string>,
): Promise<Outcome> {
  const options = { env: environment, timeout: PATIENCE_MS, maxBuffer: 2 ** 26 };
  try {
    const { stdout, stderr } = await promisify(execFile)(file, [...args], options);
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
}

export interface SqlServer {
  readonly port: number;
  /** Resolves to its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** `spillway sql --listen 127.0.0.1:0`, once it listens. */
export async function startSqlServer(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<SqlServer> {
  const child = spawn(process.execPath, [MAIN, 'sql', '--listen', '127.0.0.1:0', ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const port = await new Promise<number>((resolve, reject) => {
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      const match = /listens on postgres:\/\/127\.0\.0\.1:(\d+)\/postgres\n/.exec(stdout);
      if (match !== null) resolve(Number(match[1]));
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${stderr}`)));
  });
  return {
    port,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Debian's psql, which reads no files of whoever runs the test. */
export async function psql(
  port: number,
  commands: readonly string[],
  environment: Record<string, string> = {},
): Promise<Outcome> {
  const args = [
    '-X',
    '-q',
    '-A',
    '-t',
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-U',
    'me',
    'postgres',
  ];
  try {
    return await run('psql', [...args, ...commands.flatMap((one) => ['-c', one])], {
      PATH: process.env['PATH'] ?? '',
      PGCLIENTENCODING: 'UTF8',
      LC_ALL: 'C.UTF-8',
      ...environment,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error('psql is missing: install postgresql-client', { cause: error });
  }
}
