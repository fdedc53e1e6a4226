import { readConfigFile } from './config-file.js';
import { requireSameImmutables } from './immutable-options.js';
import { type OptionLayer, readLayer } from './option-layer.js';
import type { RuntimeOptions } from './options.js';
import type { ResolvedConfig } from './resolved-config.js';
import { settleConfig } from './settle-config.js';

/**
 * The whole configuration: what `options` says, over what its `configFile` says, over the defaults. The caller's object is
 * copied, never written to. `cores` is `os.availableParallelism()`.
 *
 * @throws ConfigError for the first thing that is wrong; it names the option in the spelling that was used.
 */
export function resolveConfig(options: RuntimeOptions, cores: number): ResolvedConfig {
  return settleConfig({ layers: readLayers(options), known: [], cores });
}

/**
 * The same, with the file read again: what run-time changes did is gone. RPC types that are known stay known. Keep
 * a `structuredClone` of the options of the start, the caller's object may have changed since.
 *
 * @throws ConfigError also when something would change that cannot; `current` stays in force.
 */
export function reloadConfig(
  current: ResolvedConfig,
  options: RuntimeOptions,
  cores: number,
): ResolvedConfig {
  const layers = readLayers(options);
  const next = settleConfig({ layers, known: Object.keys(current.host.rpcs), cores });
  requireSameImmutables(current, next, layers);
  return next;
}

function readLayers(options: RuntimeOptions): OptionLayer[] {
  const given = readLayer(options, { name: 'options' });
  const path = given.values['configFile'];
  return typeof path === 'string' ? [given, readConfigFile(path)] : [given];
}
