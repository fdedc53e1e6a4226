import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runFile } from '../../conformance/runner/run-file.mjs';
import { readVectorFile } from '../../conformance/runner/vector-file.mjs';
import { createSuites } from '../../conformance/suites/create-suites.mjs';
import { subjectFromSource } from './subject-from-source.js';

const vectors = fileURLToPath(new URL('../../conformance/vectors', import.meta.url));
const suites = createSuites(subjectFromSource);
const files = readdirSync(vectors).sort();

describe('conformance vectors', () => {
  it('there is a file for every suite', () => {
    expect(files).toEqual([...suites.keys()].map((name) => `${name}.json`).sort());
  });

  it.each(files)('%s passes, on every backend', (name) => {
    const file = readVectorFile(join(vectors, name));
    const { passed, failures } = runFile(file, suites);
    expect(failures).toEqual([]);
    expect(passed).toBe(file.cases.length * (suites.get(file.suite)?.backends.length ?? 0));
  });

  it('the limiters are tested on the kernel and on its twin', () => {
    for (const suite of ['token-bucket', 'strict-limiter']) {
      expect(suites.get(suite)?.backends.map(({ name }) => name)).toEqual(['kernel', 'twin']);
    }
  });
});
