import { numberIn, readOptions, requireJsonPath } from '../option-values.js';

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
  const values = readOptions(args, {
    seconds: { type: 'string', default: '20' },
    threads: { type: 'string', default: '4' },
    json: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  return Object.freeze({
    jsonFile: requireJsonPath(values.json),
    threads: numberIn('threads', values.threads, 1, 32, true),
    seconds: numberIn('seconds', values.seconds, 8, 3600),
    quiet: values.quiet,
    help: values.help,
  });
}
