import { spawnSync } from 'node:child_process';

export interface Told {
  readonly code: number | null;
  readonly output: string;
}

/** Runs Prometheus' tool. @throws when it is not installed: what it would check is not checked then. */
export function promtool(args: readonly string[], input = ''): Told {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, {
    input,
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 64 * 2 ** 20,
  });
  if (error !== undefined) throw missing('promtool', error);
  return { code: status, output: stdout + stderr };
}

export function missing(program: string, cause: Error): Error {
  return new Error(
    `${program} cannot be run: install the Debian package prometheus (apt-get install prometheus)`,
    { cause },
  );
}
