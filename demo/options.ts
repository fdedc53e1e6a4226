import { numberIn, readOptions, requireJsonPath } from './option-values.js';

export interface DemoOptions {
  /** Length of the load, both runs together. */
  readonly seconds: number;
  readonly threads: number;
  readonly tables: number;
  readonly jsonFile: string | undefined;
  /** Port of the dashboard on loopback, 0: one that is free; undefined: none is served. */
  readonly servePort: number | undefined;
  readonly quiet: boolean;
  readonly help: boolean;
}

export const usage = `npm run demo -- [options]

  --seconds N   length of the load, both runs together: 4 to 3600, default 40
  --threads N   client threads: 1 to 32, default 4
  --tables N    tables, two of which flood: 4 to 1000, default 40
  --json FILE   write the report as JSON to FILE as well
  --serve[=PORT]
                serve the dashboard and print its URL; in a terminal it stays until Ctrl-C,
                else until the demo ends. PORT: 0 to 65535, default 0, one that is free
  --quiet       print nothing unless something fails, but the URL of --serve
  --help        print this
`;

/** @throws DemoOptionError that names the option, its rule and what came. */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  // With a value only after `=`, so that it can do without.
  const spelled = args.map((arg) => (arg === '--serve' ? '--serve=0' : arg));
  const values = readOptions(spelled, {
    seconds: { type: 'string', default: '40' },
    threads: { type: 'string', default: '4' },
    tables: { type: 'string', default: '40' },
    json: { type: 'string' },
    serve: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  return Object.freeze({
    jsonFile: requireJsonPath(values.json),
    seconds: numberIn('seconds', values.seconds, 4, 3600),
    threads: numberIn('threads', values.threads, 1, 32, true),
    tables: numberIn('tables', values.tables, 4, 1000, true),
    servePort:
      values.serve === undefined ? undefined : numberIn('serve', values.serve, 0, 65_535, true),
    quiet: values.quiet,
    help: values.help,
  });
}
