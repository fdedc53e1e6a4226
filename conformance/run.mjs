// npm run conformance -- FILE_OR_DIR...
import { loadBuilt } from './load-built.mjs';
import { runPaths } from './runner/run-paths.mjs';
import { createSuites } from './suites/create-suites.mjs';

const paths = process.argv.slice(2);
if (paths.length === 0) {
  console.error('usage: npm run conformance -- FILE_OR_DIR...');
  process.exitCode = 2;
} else {
  const suites = createSuites(await loadBuilt());
  process.exitCode = runPaths(paths, suites, (line) => console.log(line));
}
