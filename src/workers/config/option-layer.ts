import type { z } from 'zod';
import type { ConfigError } from '../../shared/errors.js';
import { configProblem, type Locate } from './config-problem.js';
import { optionsSchema, patchSchema } from './option-schema.js';
import { OPTIONS, type OptionSpec, RPC_OPTIONS } from './option-table.js';
import { isPlainObject, type PlainObject, plainCopy } from './plain-copy.js';
import { isRpcName, RPC_NAME_RULE } from './rpc-name.js';
import { readSpellings, type SeedSpelling } from './seed-spellings.js';

/** One source of options (an object, a file, a patch), checked field by field, in this package's spelling. */
export interface OptionLayer {
  readonly values: PlainObject;
  /** An error about an option, with the spelling, the value and the place of this source. */
  problem(path: string, rule: string, value: unknown): ConfigError;
}

export interface LayerSource {
  /** `options`, `patch`, or the file: what the message calls the whole thing. */
  readonly name: string;
  /** In a patch an override may be null: it is taken back. */
  readonly isPatch?: boolean;
  readonly locate?: Locate;
}

/** Copies and checks what one source gives. Throws `ConfigError` for the first thing that is wrong, nothing else. */
export function readLayer(given: unknown, source: LayerSource): OptionLayer {
  const locate: Locate = source.locate ?? (() => '');
  const copy = plainCopy(given, { root: source.name, locate });
  if (!isPlainObject(copy)) {
    throw configProblem(source.name, 'must be an object', given, locate(''));
  }
  const { values, names } = readSpellings(copy, locate);
  const layer: OptionLayer = {
    values,
    problem(path, rule, value) {
      const seed = names.get(path);
      if (seed === undefined) return configProblem(path, rule, value, locate(path));
      return configProblem(seed.name, rule, seed.value, locate(seed.name));
    },
  };
  checkRpcNames(layer);
  const result = (source.isPatch ? patchSchema : optionsSchema).safeParse(values);
  if (!result.success) throw toProblem(result.error.issues[0]!, layer, names);
  return layer;
}

/** Before the schema looks: zod skips a key `__proto__` in a record. */
function checkRpcNames({ values, problem }: OptionLayer): void {
  const rpcs = isPlainObject(values['host']) ? values['host']['rpcs'] : undefined;
  if (!isPlainObject(rpcs)) return;
  for (const name of Object.keys(rpcs)) {
    if (!isRpcName(name)) throw problem('host.rpcs', `${RPC_NAME_RULE} for a name`, name);
  }
}

function toProblem(
  issue: z.core.$ZodIssue,
  { values, problem }: OptionLayer,
  names: ReadonlyMap<string, SeedSpelling>,
): ConfigError {
  const path = [...issue.path];
  let value = valueIn(values, path);
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    path.push(key);
    value = isPlainObject(value) ? value[key] : undefined;
    return problem(pathName(path), `is no option (${siblings(issue.path)})`, value);
  }
  const name = pathName(path);
  return problem(name, names.get(name)?.rule ?? issue.message, value);
}

/** The value at a path, undefined where there is none. */
export function valueIn(from: unknown, path: readonly PropertyKey[]): unknown {
  let value = from;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function pathName(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (name, key) => (typeof key === 'number' ? `${name}[${key}]` : join(name, String(key))),
    '',
  );
}

function join(prefix: string, key: string): string {
  return prefix === '' ? key : `${prefix}.${key}`;
}

/** What could have been meant: the options at the same place. */
function siblings(path: readonly PropertyKey[]): string {
  const names = (specs: readonly OptionSpec[]): string => specs.map((s) => s.path).join(', ');
  if (path.length > 2) return `there are ${names(RPC_OPTIONS)}`;
  if (path.length === 0) return 'see docs/reference/options.md';
  const prefix = `${String(path[0])}.`;
  const here = OPTIONS.filter((s) => s.path.startsWith(prefix)).map((s) =>
    s.path.slice(prefix.length),
  );
  if (prefix === 'host.') here.push('rpcs');
  return `there are ${here.join(', ')}`;
}
