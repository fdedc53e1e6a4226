import { parseArgs } from 'node:util';
import { DemoOptionError } from '../options.js';

export interface PeerDemoOptions {
  /** Length of both runs together. */
  readonly seconds: number;
  readonly threads: number;
  readonly jsonFile: string | undefined;
  readonly quiet: boolean;
  readonly help: boolean;
}

export const peerUsage = `npm run demo:peers -- [options]

  --seconds N   length of both runs together: 8 to 3600, default 20
  --threads N   threads that read: 1 to 32, default 4
  --json FILE   write the report as JSON to FILE as well
  --quiet       print nothing unless something fails
  --help        print this
`;

/** @throws DemoOptionError that names the option, its rule and what came. */
export function parsePeerDemoOptions(args: readonly string[]): PeerDemoOptions {
  const values = parse(args);
  if (values.json !== undefined && values.json.trim() === '') {
    throw new DemoOptionError(`--json must be the path of a file, got '${values.json}'`);
  }
  const threads = numberIn('threads', values.threads, 1, 32);
  if (!Number.isInteger(threads)) {
    throw new DemoOptionError(`--threads must be an integer from 1 to 32, got '${values.threads}'`);
  }
  return Object.freeze({
    seconds: numberIn('seconds', values.seconds, 8, 3600),
    threads,
    jsonFile: values.json,
    quiet: values.quiet,
    help: values.help,
  });
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: false,
      options: {
        seconds: { type: 'string', default: '20' },
        threads: { type: 'string', default: '4' },
        json: { type: 'string' },
        quiet: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new DemoOptionError(error instanceof Error ? error.message : String(error));
  }
}

function numberIn(field: string, raw: string, low: number, high: number): number {
  const value = raw.trim() === '' ? Number.NaN : Number(raw);
  if (Number.isFinite(value) && value >= low && value <= high) return value;
  throw new DemoOptionError(`--${field} must be a number from ${low} to ${high}, got '${raw}'`);
}
