import { parseArgs } from 'node:util';

export interface DemoOptions {
  /** Length of the load, both runs together. */
  readonly seconds: number;
  readonly threads: number;
  readonly tables: number;
  readonly jsonFile: string | undefined;
  readonly quiet: boolean;
  readonly help: boolean;
}

export class DemoOptionError extends Error {
  override readonly name = 'DemoOptionError';
}

export const usage = `npm run demo -- [options]

  --seconds N   length of the load, both runs together: 4 to 3600, default 40
  --threads N   client threads: 1 to 32, default 4
  --tables N    tables, two of which flood: 4 to 1000, default 40
  --json FILE   write the report as JSON to FILE as well
  --quiet       print nothing unless something fails
  --help        print this
`;

function numberIn(field: string, raw: string, low: number, high: number, integer: boolean): number {
  const value = raw.trim() === '' ? Number.NaN : Number(raw);
  if (!Number.isFinite(value) || value < low || value > high || (integer && value % 1 !== 0)) {
    const kind = integer ? 'an integer' : 'a number';
    throw new DemoOptionError(`--${field} must be ${kind} from ${low} to ${high}, got '${raw}'`);
  }
  return value;
}

/** @throws DemoOptionError that names the option, its rule and what came. */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  let values: {
    seconds: string;
    threads: string;
    tables: string;
    json?: string | undefined;
    quiet: boolean;
    help: boolean;
  };
  try {
    ({ values } = parseArgs({
      args: [...args],
      allowPositionals: false,
      options: {
        seconds: { type: 'string', default: '40' },
        threads: { type: 'string', default: '4' },
        tables: { type: 'string', default: '40' },
        json: { type: 'string' },
        quiet: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    throw new DemoOptionError(error instanceof Error ? error.message : String(error));
  }
  if (values.json !== undefined && values.json.trim() === '') {
    throw new DemoOptionError(`--json must be the path of a file, got '${values.json}'`);
  }
  return Object.freeze({
    seconds: numberIn('seconds', values.seconds, 4, 3600, false),
    threads: numberIn('threads', values.threads, 1, 32, true),
    tables: numberIn('tables', values.tables, 4, 1000, true),
    jsonFile: values.json,
    quiet: values.quiet,
    help: values.help,
  });
}
