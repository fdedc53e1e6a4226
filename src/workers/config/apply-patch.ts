import { requireSameImmutables } from './immutable-options.js';
import { type OptionLayer, readLayer } from './option-layer.js';
import type { ConfigPatch } from './options.js';
import type { ResolvedConfig } from './resolved-config.js';
import { settleConfig } from './settle-config.js';

/**
 * The configuration after a change at run time, checked as a whole. An RPC type that the patch names becomes known and
 * stays so, because its number in the arena is never given to another; `null` for one takes its override back.
 *
 * @throws ConfigError for the first thing that is wrong; `current` is untouched either way.
 */
export function applyPatch(
  current: ResolvedConfig,
  patch: ConfigPatch,
  cores: number,
): ResolvedConfig {
  const layers = [readLayer(patch, { name: 'patch', isPatch: true }), asLayer(current)];
  const next = settleConfig({ layers, known: Object.keys(current.host.rpcs), cores });
  requireSameImmutables(current, next, layers);
  return next;
}

/** What is in force, as the source of everything that the patch does not name: null stands for not given. */
function asLayer(current: ResolvedConfig): OptionLayer {
  const rpcs = Object.entries(current.host.rpcs).map(([rpc, { burst, ...rest }]) => [
    rpc,
    burst === null ? rest : { ...rest, burst },
  ]);
  const given = Object.entries(current).filter(([, value]) => value !== null);
  const host = { ...current.host, rpcs: Object.fromEntries(rpcs) };
  return readLayer({ ...Object.fromEntries(given), host }, { name: 'config' });
}
