import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** What the figures depend on. */
export function environment() {
  return {
    node: process.version,
    v8: process.versions.v8,
    platform: `${process.platform} ${process.arch} ${release()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadBefore: loadavg()[0],
    commit: commit(),
  };
}

/** @param {ReturnType<typeof environment>} env */
export function describeEnvironment(env) {
  return [
    `node ${env.node} (v8 ${env.v8}), ${env.platform}`,
    `${env.cpu}, ${env.cores} cores, ${env.memoryGiB} GiB, load ${env.loadBefore?.toFixed(2)}`,
    `commit ${env.commit}`,
  ].join('\n');
}

function commit() {
  try {
    const cwd = fileURLToPath(new URL('.', import.meta.url));
    const run = (/** @type {string[]} */ ...args) =>
      execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const changed = run('status', '--porcelain', '--untracked-files=no', '--', '../../src') !== '';
    return run('rev-parse', '--short', 'HEAD').trim() + (changed ? ' with changes' : '');
  } catch {
    return 'unknown';
  }
}
