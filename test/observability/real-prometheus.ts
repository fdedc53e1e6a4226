import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from './promtool.js';

export interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: unknown;
}

export interface QueryResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** A Prometheus of one's own that scrapes one target twice a second. */
export interface RealPrometheus {
  /** Any path of its HTTP API, below `/api/v1/`. */
  ask(path: string, parameters?: Readonly<Record<string, string>>): Promise<Answer>;
  /** @throws for a query that is none. */
  query(expression: string): Promise<readonly QueryResult[]>;
  stop(): Promise<void>;
}

export async function startPrometheus(options: {
  readonly dir: string;
  readonly target: string;
  readonly rules: string;
}): Promise<RealPrometheus> {
  const file = join(options.dir, 'prometheus.yml');
  const config = {
    global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
    rule_files: [options.rules],
    scrape_configs: [{ job_name: 'spillway', static_configs: [{ targets: [options.target] }] }],
  };
  writeFileSync(file, JSON.stringify(config));
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(options.dir, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const address = await listening(child);
  const ask = async (path: string, parameters: Readonly<Record<string, string>> = {}) => {
    const url = `http://${address}/api/v1/${path}?${new URLSearchParams(parameters)}`;
    return (await (await fetch(url)).json()) as Answer;
  };
  return {
    ask,
    async query(expression) {
      const { status, error, data } = await ask('query', { query: expression });
      if (status !== 'success') throw new Error(`${expression}: ${error}`);
      return (data as { result: QueryResult[] }).result;
    },
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** The address that it says it listens on. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let log = '';
    child.on('error', (error) => reject(missing('prometheus', error)));
    child.on('exit', (code) => reject(new Error(`prometheus has ended with ${code}:\n${log}`)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      const [, address] = /msg="Listening on" address=(\S+)/.exec(log) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
}
