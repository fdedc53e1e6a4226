// Reads a vector file and refuses one that is not as the format says, before anything of it runs.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ readonly op: string, readonly expect?: unknown, readonly tol?: number, readonly absTol?: number,
 *   readonly [input: string]: unknown }} Step
 * @typedef {{ readonly name: string, readonly params: Readonly<Record<string, unknown>>, readonly tol?: number,
 *   readonly absTol?: number, readonly steps: readonly Step[] }} Case
 * @typedef {{ readonly suite: string, readonly tol?: number, readonly absTol?: number,
 *   readonly cases: readonly Case[] }} VectorFile
 */

/** The file cannot be run: the runner exits with 2. */
export class UnusableFileError extends Error {
  /** @override */
  name = 'UnusableFileError';
}

/**
 * @param {string} path a file, or a directory that stands for every *.json in it
 * @returns {string[]}
 */
export function filesAt(path) {
  let isDirectory;
  try {
    isDirectory = statSync(path).isDirectory();
  } catch (error) {
    throw new UnusableFileError(`cannot be read: ${messageOf(error)}`);
  }
  if (!isDirectory) return [path];
  const files = readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(path, name));
  if (files.length === 0) throw new UnusableFileError('is a directory without vector files');
  return files;
}

/**
 * @param {string} path
 * @returns {VectorFile}
 */
export function readVectorFile(path) {
  let content;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UnusableFileError(`cannot be read: ${messageOf(error)}`);
  }
  requireShape(isRecord(content), 'is no object');
  requireShape(typeof content.suite === 'string', 'has no suite');
  requireTolerances(content, 'the file');
  requireShape(Array.isArray(content.cases), 'has no cases');
  const cases = content.cases.map((/** @type {unknown} */ one, /** @type {number} */ i) =>
    readCase(one, i),
  );
  return { ...content, suite: content.suite, cases };
}

/**
 * @param {unknown} one
 * @param {number} index
 * @returns {Case}
 */
function readCase(one, index) {
  requireShape(isRecord(one), `has a case ${index} that is no object`);
  const name = typeof one.name === 'string' ? one.name : `case ${index}`;
  requireTolerances(one, `'${name}'`);
  requireShape(Array.isArray(one.steps), `has no steps in '${name}'`);
  for (const [i, step] of one.steps.entries()) {
    requireShape(
      isRecord(step) && typeof step.op === 'string',
      `has no op in step ${i} of '${name}'`,
    );
    requireTolerances(step, `step ${i} of '${name}'`);
  }
  const params = one.params ?? {};
  requireShape(isRecord(params), `has params that are no object in '${name}'`);
  return { ...one, name, params, steps: one.steps };
}

/** @param {Record<string, unknown>} holder @param {string} where */
function requireTolerances(holder, where) {
  for (const key of ['tol', 'absTol']) {
    const value = holder[key];
    const isFine = value === undefined || (typeof value === 'number' && value >= 0);
    requireShape(isFine, `has a ${key} of ${where} that is no number >= 0`);
  }
}

/**
 * @param {boolean} condition
 * @param {string} message
 * @returns {asserts condition}
 */
function requireShape(condition, message) {
  if (!condition) throw new UnusableFileError(message);
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
