import { readFileSync } from 'node:fs';
import { configProblem } from './config-problem.js';
import { type JsonLines, jsonLines } from './json-lines.js';
import { keyValueOptions } from './key-value-options.js';
import { type OptionLayer, readLayer } from './option-layer.js';

/** Far more than any configuration; a wrong path must not fill the memory. */
const MAX_CHARS = 1_048_576;

/**
 * Options from a file: a JSON object, or lines of `name = value` with `#` comments, each in either spelling.
 *
 * @throws ConfigError that names the file, the line and the option.
 */
export function readConfigFile(path: string): OptionLayer {
  return parseConfig(readText(path), path);
}

/** The same for text that was read already; `path` only names it. */
export function parseConfig(text: string, path: string): OptionLayer {
  const content = text.replace(/^\uFEFF/, '');
  const isJson = /^\s*[{[]/.test(content) || path.endsWith('.json');
  const { given, lines } = isJson ? parseJson(content, path) : keyValueOptions(content, path);
  const locate = (field: string): string => {
    const line = lineOf(lines, field);
    return line === undefined ? `${path}: ` : `${path}:${line}: `;
  };
  const layer = readLayer(given, { name: 'file', locate });
  if (layer.values['configFile'] !== undefined) {
    throw layer.problem('configFile', 'cannot be named by a file', layer.values['configFile']);
  }
  return layer;
}

/** The line of an option, or of what it is part of: `tables.rpcs[1]` stands where `tables.rpcs` does. */
function lineOf(lines: JsonLines, field: string): number | undefined {
  let part = field;
  while (part !== '') {
    const line = lines.get(part);
    if (line !== undefined) return line;
    part = part.slice(0, Math.max(0, part.lastIndexOf('.'), part.lastIndexOf('[')));
  }
  return undefined;
}

function readText(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? ` (${cause.message})` : '';
    throw configProblem('configFile', `must be a file that can be read${why}`, path, '', { cause });
  }
  if (text.length > MAX_CHARS) {
    throw configProblem('configFile', `must not be longer than ${MAX_CHARS} characters`, path);
  }
  return text;
}

function parseJson(text: string, path: string): { given: unknown; lines: JsonLines } {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it is not JSON';
    const where = `${path}:${lineOfSyntaxError(why, text)}: `;
    throw configProblem('file', `must be valid JSON (${why})`, path, where, { cause });
  }
  const lines = jsonLines(text, (field, line) => {
    throw configProblem(field, 'must not be given twice', 'a second value', `${path}:${line}: `);
  });
  return { given, lines };
}

/** V8 says where in characters; without that, the last line. */
function lineOfSyntaxError(why: string, text: string): number {
  const position = /at position (\d+)/.exec(why)?.[1];
  return text.slice(0, position === undefined ? text.length : Number(position)).split('\n').length;
}
