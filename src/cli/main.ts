#!/usr/bin/env node
/** The command `spillway`. */
import { readFileSync } from 'node:fs';
import { readCommand } from './command-line.js';
import { safeText } from './safe-text.js';
import { CommandError, UsageError } from './usage-error.js';

async function main(args: readonly string[]): Promise<number> {
  const command = readCommand(args, process.env);
  const output = {
    out: (text: string): void => void process.stdout.write(text),
    err: (text: string): void => void process.stderr.write(text),
  };
  switch (command.kind) {
    case 'help': {
      const { USAGE, SQL_USAGE, TOP_USAGE } = await import('./usage.js');
      output.out({ none: USAGE, sql: SQL_USAGE, top: TOP_USAGE }[command.about ?? 'none']);
      return 0;
    }
    case 'version': {
      const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
      output.out(`${(JSON.parse(text) as { version: string }).version}\n`);
      return 0;
    }
    case 'sql-query': {
      const { runQuery } = await import('./sql/run-sql.js');
      return runQuery(command, output);
    }
    case 'sql-listen': {
      const { runEndpoint } = await import('./sql/run-sql.js');
      const asked = new Promise((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
      });
      return runEndpoint(command, output, asked);
    }
    case 'top': {
      const { runTop } = await import('./top/run-top.js');
      return runTop(command);
    }
  }
}

function explain(error: unknown): { text: string; code: number } {
  if (error instanceof UsageError) return { text: `${error.message} (see spillway help)`, code: 2 };
  if (error instanceof CommandError) return { text: error.message, code: 1 };
  return { text: error instanceof Error ? error.message : String(error), code: 1 };
}

// A reader that has seen enough, such as `head`, is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    const { text, code } = explain(error);
    process.stderr.write(`spillway: ${safeText(text)}\n`);
    process.exitCode = code;
  },
);
