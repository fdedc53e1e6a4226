import { configProblem, describeValue, type Locate } from './config-problem.js';
import { OPTIONS } from './option-table.js';
import { emptyObject, isPlainObject, type PlainObject } from './plain-copy.js';

/** How Doris', or Fluss', spelling of one option was used. */
export interface SeedSpelling {
  readonly name: string;
  /** In Doris' unit, as it was given. */
  readonly value: unknown;
  /** The rule in Doris' unit, where that differs. */
  readonly rule: string | undefined;
}

const RPC_PREFIX = 'ms_rpc_qps_';

interface Target {
  readonly keys: readonly string[];
  readonly factor: number;
  /** A text with a unit is taken, too. */
  readonly duration: boolean;
  readonly rule: string | undefined;
}

/** Where a flat name of Doris leads in this package's spelling; undefined for a name that is none of Doris'. */
function targetOf(name: string): Target | undefined {
  const spec = OPTIONS.find(({ seed }) => seed?.name === name);
  if (spec !== undefined) {
    const { factor = 1, duration = false, rule } = spec.seed ?? {};
    return { keys: spec.path.split('.'), factor, duration, rule };
  }
  if (!name.startsWith(RPC_PREFIX) || name.length === RPC_PREFIX.length) return undefined;
  const rpc = name.slice(RPC_PREFIX.length);
  const keys = ['host', 'rpcs', rpc, 'qpsPerCore'];
  return { keys, factor: 1, duration: false, rule: undefined };
}

/**
 * Moves what is spelled as Doris spells it to this package's spelling (the groups of `given`, which is a copy, are written
 * to). Both spellings of one option must agree.
 */
export function readSpellings(
  given: PlainObject,
  locate: Locate,
): { values: PlainObject; names: ReadonlyMap<string, SeedSpelling> } {
  const values = emptyObject();
  const seeds: { name: string; target: Target }[] = [];
  for (const [name, value] of Object.entries(given)) {
    const target = targetOf(name);
    if (target === undefined) values[name] = value;
    else if (value !== undefined) seeds.push({ name, target });
  }
  const names = new Map<string, SeedSpelling>();
  for (const { name, target } of seeds) {
    const value = given[name];
    const path = target.keys.join('.');
    const place = placeOf(values, target.keys, (field, value) => {
      throw configProblem(field, `must be an object to go with ${name}`, value, locate(field));
    });
    const key = target.keys.at(-1)!;
    const converted = target.duration ? milliseconds(value) : convert(value, target.factor);
    const other = place[key];
    if (other !== undefined && !Object.is(other, converted)) {
      const rule = `must agree with ${path}, which is ${describeValue(other)}`;
      throw configProblem(name, rule, value, locate(name));
    }
    place[key] = converted;
    names.set(path, { name, value, rule: target.rule });
  }
  return { values, names };
}

function placeOf(
  root: PlainObject,
  keys: readonly string[],
  refuse: (field: string, value: unknown) => never,
): PlainObject {
  let place = root;
  for (const [depth, key] of keys.slice(0, -1).entries()) {
    if (place[key] === undefined) place[key] = emptyObject();
    const next = place[key];
    if (!isPlainObject(next)) return refuse(keys.slice(0, depth + 1).join('.'), next);
    place = next;
  }
  return place;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/** As Flink and Fluss write durations, `3s`; what is none stays what it is. */
function milliseconds(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const [, count, unit = ''] = /^(\d{1,15}) ?(ms|s|min|h)$/.exec(value.trim()) ?? [];
  return count === undefined ? value : Number(count) * (UNIT_MS[unit] ?? 1);
}

/** Whole after the conversion where it was meant so: 1.1 s is 1100 ms. */
function convert(value: unknown, factor: number): unknown {
  if (typeof value !== 'number' || factor === 1) return value;
  const exact = value * factor;
  const whole = Math.round(exact);
  return Math.abs(whole - exact) < 1e-6 && whole !== 0 ? whole : exact;
}
