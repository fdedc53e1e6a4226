// npm run conformance -- FILE_OR_DIR...
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadBuilt } from './load-built.mjs';
import { runPaths } from './runner/run-paths.mjs';
import { createSuites } from './suites/create-suites.mjs';

// npm runs scripts in the package's root; a relative path is meant from where the user is.
const { INIT_CWD: userFolder, npm_lifecycle_event: script } = process.env;
const paths = process.argv.slice(2).map((path) => {
  if (script !== 'conformance' || userFolder === undefined) return path;
  const meant = resolve(userFolder, path);
  return existsSync(meant) ? meant : path;
});
if (paths.length === 0) {
  console.error('usage: npm run conformance -- FILE_OR_DIR...');
  process.exitCode = 2;
} else {
  const suites = createSuites(await loadBuilt());
  process.exitCode = runPaths(paths, suites, (line) => console.log(line));
}
