/** The line (from 1) of each key of a JSON text, by its dotted path. */
export type JsonLines = ReadonlyMap<string, number>;

const TOKEN: RegExp = /"(?:[^"\\]|\\.)*"|[{}[\],:]|\n|[^\s{}[\],:"]+/g;

interface Level {
  readonly prefix: string;
  readonly isObject: boolean;
  key: string | undefined;
  index: number;
}

/**
 * Finds the lines in a text that `JSON.parse` has accepted, and keys given twice, of which `JSON.parse` silently takes the
 * last.
 */
export function jsonLines(
  text: string,
  onDuplicate: (field: string, line: number) => void,
): JsonLines {
  const lines = new Map<string, number>();
  const levels: Level[] = [];
  let line = 1;
  for (const [token] of text.matchAll(TOKEN)) {
    const level = levels.at(-1);
    if (token === '\n') line += 1;
    else if (token === '{' || token === '[') levels.push(open(level, token === '{'));
    else if (token === '}' || token === ']') levels.pop();
    else if (level === undefined || token === ':') continue;
    else if (token === ',') {
      level.key = undefined;
      level.index += 1;
    } else if (level.isObject && level.key === undefined) {
      level.key = JSON.parse(token) as string;
      const field = pathOf(level);
      if (lines.has(field)) onDuplicate(field, line);
      lines.set(field, line);
    } else if (!level.isObject) lines.set(pathOf(level), line);
  }
  return lines;
}

function open(parent: Level | undefined, isObject: boolean): Level {
  return { prefix: parent === undefined ? '' : pathOf(parent), isObject, key: undefined, index: 0 };
}

function pathOf({ prefix, isObject, key, index }: Level): string {
  if (!isObject) return `${prefix}[${index}]`;
  return prefix === '' ? (key ?? '') : `${prefix}.${key ?? ''}`;
}
