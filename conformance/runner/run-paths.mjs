// Runs files and directories, prints what failed, and says how it went.
import { runFile } from './run-file.mjs';
import { filesAt, readVectorFile, UnusableFileError } from './vector-file.mjs';

/**
 * @typedef {0 | 1 | 2} ExitCode
 */

/**
 * @param {readonly string[]} paths files or directories
 * @param {ReadonlyMap<string, import('./run-file.mjs').Suite>} suites
 * @param {(line: string) => void} print
 * @returns {ExitCode} 1: a case failed; 2: a file could not be read or names a suite or an op that is not known
 */
export function runPaths(paths, suites, print) {
  let passed = 0;
  let failed = 0;
  let unusable = 0;
  /** @param {string} path @param {() => void} work */
  const attempt = (path, work) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof UnusableFileError)) throw error;
      unusable += 1;
      print(`UNUSABLE ${path} ${error.message}`);
    }
  };
  for (const path of paths) {
    /** @type {string[]} */
    let files = [];
    attempt(path, () => {
      files = filesAt(path);
    });
    for (const file of files) {
      attempt(file, () => {
        const result = runFile(readVectorFile(file), suites);
        passed += result.passed;
        failed += result.failures.length;
        for (const failure of result.failures) print(failure);
      });
    }
  }
  print(`${passed} passed, ${failed} failed`);
  if (unusable > 0) return 2;
  return failed > 0 ? 1 : 0;
}
