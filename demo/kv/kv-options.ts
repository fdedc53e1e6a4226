import { numberIn, readOptions, requireJsonPath } from '../option-values.js';

export interface KvDemoOptions {
  /** Length of the load, both runs together. */
  readonly seconds: number;
  readonly jsonFile: string | undefined;
  readonly quiet: boolean;
  readonly help: boolean;
}

export const kvUsage = `npm run demo:kv -- [options]

  --seconds N   length of the load, both runs together: 4 to 3600, default 40
  --json FILE   write the report as JSON to FILE as well
  --quiet       print nothing unless something fails
  --help        print this
`;

/** @throws DemoOptionError that names the option, its rule and what came. */
export function parseKvDemoOptions(args: readonly string[]): KvDemoOptions {
  const values = readOptions(args, {
    seconds: { type: 'string', default: '40' },
    json: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  return Object.freeze({
    jsonFile: requireJsonPath(values.json),
    seconds: numberIn('seconds', values.seconds, 4, 3600),
    quiet: values.quiet,
    help: values.help,
  });
}
