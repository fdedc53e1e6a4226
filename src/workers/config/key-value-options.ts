import { configProblem } from './config-problem.js';
import { OPTIONS, RPC_OPTIONS, type TextKind } from './option-table.js';
import { emptyObject, isPlainObject, type PlainObject } from './plain-copy.js';

const RPC_PREFIX = 'host.rpcs.';
const NUMBER: RegExp = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER: RegExp = /^\d+$/;

interface Target {
  readonly keys: readonly string[];
  readonly kind: TextKind;
}

/**
 * Options from lines of `name = value`; a `#` at the start or after a space begins a comment. Names are Doris' flat ones or
 * dotted (`tables.ratio`, `host.rpcs.commit_rowset.burst`), lists are separated by commas. `lines` says where each stood.
 */
export function keyValueOptions(
  text: string,
  path: string,
): { given: PlainObject; lines: ReadonlyMap<string, number> } {
  const given = emptyObject();
  const lines = new Map<string, number>();
  for (const [i, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const content = raw.replace(/(^|\s)#.*$/, '').trim();
    if (content === '') continue;
    const where = `${path}:${i + 1}: `;
    const [, name, value] = /^([^\s=]+)\s*=\s*(.*)$/.exec(content) ?? [];
    if (name === undefined || value === undefined) {
      throw configProblem('line', 'must be name = value', content, where);
    }
    const before = lines.get(name);
    if (before !== undefined) {
      throw configProblem(name, `must not be given twice (see line ${before})`, value, where);
    }
    lines.set(name, i + 1);
    const { keys, kind } = targetOf(name);
    put(given, keys, parse(value, kind));
  }
  return { given, lines };
}

/** Names that lead nowhere stay as they are, for the schema to refuse. */
function targetOf(name: string): Target {
  const spec = OPTIONS.find((o) => o.path === name);
  if (spec !== undefined) return { keys: name.split('.'), kind: spec.kind };
  const seed = OPTIONS.find((o) => o.seed?.name === name);
  if (seed !== undefined) return { keys: [name], kind: seed.kind };
  const end = name.lastIndexOf('.');
  const rpcSpec = RPC_OPTIONS.find((o) => o.path === name.slice(end + 1));
  if (rpcSpec !== undefined && name.startsWith(RPC_PREFIX) && end > RPC_PREFIX.length) {
    const rpc = name.slice(RPC_PREFIX.length, end);
    return { keys: ['host', 'rpcs', rpc, rpcSpec.path], kind: rpcSpec.kind };
  }
  return { keys: [name], kind: 'number' };
}

/** Text that is not of its kind stays text: the schema's message then shows what came. */
function parse(text: string, kind: TextKind): unknown {
  switch (kind) {
    case 'boolean':
      if (text === 'true') return true;
      return text === 'false' ? false : text;
    case 'names':
      return text === '' ? [] : text.split(',').map((name) => name.trim());
    case 'name':
      return text;
    default: {
      if (!NUMBER.test(text)) return text;
      const value = Number(text);
      return INTEGER.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
    }
  }
}

function put(root: PlainObject, keys: readonly string[], value: unknown): void {
  let place = root;
  for (const key of keys.slice(0, -1)) {
    const next = place[key];
    const inner = isPlainObject(next) ? next : emptyObject();
    place[key] = inner;
    place = inner;
  }
  place[keys.at(-1)!] = value;
}
