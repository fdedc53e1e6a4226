import type { ConfigError } from '../../shared/errors.js';
import { configProblem } from './config-problem.js';
import { DORIS_LOAD_RELATED_RPCS, DORIS_META_SERVICE_RPCS } from './doris-meta-service.js';
import { hostLimits } from './host-limits.js';
import { type OptionLayer, valueIn } from './option-layer.js';
import { OPTIONS, RPC_OPTIONS } from './option-table.js';
import { emptyObject, isPlainObject, type PlainObject } from './plain-copy.js';
import type { ResolvedConfig } from './resolved-config.js';

export interface SettleInput {
  /** Sources of options; the first that gives a value wins. */
  readonly layers: readonly OptionLayer[];
  /** RPC types that are known already, in their order. */
  readonly known: readonly string[];
  readonly cores: number;
}

/** Merges checked sources over the defaults, then checks what only the whole shows. */
export function settleConfig({ layers, known, cores }: SettleInput): ResolvedConfig {
  const config = emptyGroups();
  for (const spec of OPTIONS) {
    const given = firstValue(layers, spec.path.split('.'));
    place(config, spec.path, copyOf(given ?? spec.fallback));
  }
  const { backendId, preset } = config;
  if (typeof backendId === 'bigint' && backendId <= BigInt(Number.MAX_SAFE_INTEGER)) {
    config['backendId'] = Number(backendId);
  }
  const tables = config['tables'] as PlainObject;
  if (preset !== null && firstValue(layers, ['tables', 'rpcs']) === undefined) {
    tables['rpcs'] = [...DORIS_LOAD_RELATED_RPCS];
  }
  const names = new Set(known);
  for (const name of preset === null ? [] : DORIS_META_SERVICE_RPCS) names.add(name);
  for (const layer of layers.toReversed()) {
    for (const name of Object.keys(rpcsOf(layer))) names.add(name);
  }
  for (const name of tables['rpcs'] as string[]) names.add(name);
  const rpcs = emptyObject();
  for (const name of names) rpcs[name] = settleRpc(layers, name);
  (config['host'] as PlainObject)['rpcs'] = rpcs;

  const settled = deepFreeze(config) as unknown as ResolvedConfig;
  checkRpcCount(settled, names.size);
  hostLimits(settled, cores, (keys, rule, value) => problemIn(layers, keys, rule, value));
  return settled;
}

function emptyGroups(): PlainObject {
  return {
    backendId: null,
    preset: null,
    configFile: null,
    host: {},
    tables: {},
    waiting: {},
    retry: {},
    peers: {},
    breaker: {},
    pressure: {},
    capacity: {},
  };
}

function settleRpc(layers: readonly OptionLayer[], name: string): PlainObject {
  const rpc: PlainObject = {};
  for (const spec of RPC_OPTIONS) rpc[spec.path] = spec.fallback;
  for (const layer of layers.toReversed()) {
    const override = rpcsOf(layer)[name];
    for (const spec of RPC_OPTIONS) {
      const given = isPlainObject(override) ? override[spec.path] : undefined;
      if (override === null) rpc[spec.path] = spec.fallback;
      else if (given !== undefined) rpc[spec.path] = given;
    }
  }
  return rpc;
}

function rpcsOf(layer: OptionLayer): PlainObject {
  const rpcs = valueIn(layer.values, ['host', 'rpcs']);
  return isPlainObject(rpcs) ? rpcs : emptyObject();
}

function firstValue(layers: readonly OptionLayer[], keys: readonly string[]): unknown {
  for (const layer of layers) {
    const value = valueIn(layer.values, keys);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The error in the words of the source that gave the value. */
function problemIn(
  layers: readonly OptionLayer[],
  keys: readonly string[],
  rule: string,
  value: unknown,
): ConfigError {
  const source = layers.find((layer) => valueIn(layer.values, keys) !== undefined);
  const problem = source?.problem ?? configProblem;
  return problem(keys.join('.'), rule, value);
}

function checkRpcCount({ capacity }: ResolvedConfig, count: number): void {
  if (count <= capacity.rpcs) return;
  const rule = `with the preset and tables.rpcs must name at most ${capacity.rpcs} RPC types (capacity.rpcs)`;
  throw configProblem('host.rpcs', rule, count);
}

function place(config: PlainObject, path: string, value: unknown): void {
  const [group, key] = path.split('.') as [string, string?];
  if (key === undefined) config[group] = value;
  else (config[group] as PlainObject)[key] = value;
}

function copyOf(value: unknown): unknown {
  return Array.isArray(value) ? [...value] : value;
}

function deepFreeze(value: PlainObject): PlainObject {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as PlainObject);
  }
  return Object.freeze(value);
}
