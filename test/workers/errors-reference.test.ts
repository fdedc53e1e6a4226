import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as errors from '../../src/shared/errors.js';
import * as kvErrors from '../../src/shared/kv-errors.js';
import * as kvWriterErrors from '../../src/shared/kv-writer-errors.js';
import { decodeError, encodeError } from '../../src/workers/error-codec.js';

const text = readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8');
const rows = [...text.matchAll(/^\| `\w+` \|.*\|$/gm)].map(([line]) =>
  line
    .split('|')
    .slice(1, 4)
    .map((cell) => cell.trim().replaceAll('`', '')),
);

type AnyError = errors.SpillwayError;
type AnyClass = new (message: string, details: object) => AnyError;

/** Every class but the base is made from a message, and details where it has fields. */
const samples = [errors, kvErrors, kvWriterErrors]
  .flatMap((module) => Object.values<unknown>(module))
  .filter((value) => /^class /.test(String(value)) && value !== errors.SpillwayError)
  .map((value) => new (value as unknown as AnyClass)('message', {}));

describe('docs/reference/errors.md', () => {
  it('has a line for every error class with its code and its fields, and no other', () => {
    expect(rows).toEqual([
      ['SpillwayError', 'any of these', 'code'],
      ...samples.map((error) => [
        error.name,
        error.code,
        Object.keys(error)
          .filter((key) => key !== 'code')
          .join(', '),
      ]),
    ]);
  });

  it('has only classes that cross threads as themselves', () => {
    for (const error of samples) {
      expect(decodeError(encodeError(error))).toBeInstanceOf(error.constructor);
    }
  });

  it('gives every class a code of its own', () => {
    expect(new Set(samples.map(({ code }) => code)).size).toBe(samples.length);
  });
});
