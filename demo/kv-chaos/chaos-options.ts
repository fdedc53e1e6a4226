import { numberIn, readOptions } from '../option-values.js';

export interface ChaosOptions {
  readonly kills: number;
  readonly seed: number;
  /** Log that the last restart replays, 10^6 bytes. */
  readonly logMb: number;
  readonly quiet: boolean;
  readonly help: boolean;
}

export const chaosUsage = `npm run chaos:kv -- [options]

  --kills N    how often the server is killed under load: 1 to 10000, default 30
  --seed N     makes the moments of the kills: 0 to 4294967295, default by the clock
  --log-mb N   log that the last restart replays, in MB: 1 to 2000, default 100
  --quiet      print nothing unless something fails
  --help       print this
`;

/** @throws DemoOptionError that names the option, its rule and what came. */
export function parseChaosOptions(args: readonly string[], nowMs: number): ChaosOptions {
  const values = readOptions(args, {
    kills: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Math.floor(nowMs) % 2 ** 32) },
    'log-mb': { type: 'string', default: '100' },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  return Object.freeze({
    kills: numberIn('kills', values.kills, 1, 10_000, true),
    seed: numberIn('seed', values.seed, 0, 2 ** 32 - 1, true),
    logMb: numberIn('log-mb', values['log-mb'], 1, 2000, true),
    quiet: values.quiet,
    help: values.help,
  });
}
