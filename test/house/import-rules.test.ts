import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// The rules are only worth what they catch: each case writes a small house into a temp dir and runs
// the real checker with the real configuration on it.

const root = fileURLToPath(new URL('../..', import.meta.url));
let house: string;

beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), 'spillway-house-'));
});

afterEach(() => {
  rmSync(house, { recursive: true, force: true });
});

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(house, name)), { recursive: true });
    writeFileSync(join(house, name), text);
  }
}

function cruise(files: Record<string, string>): { status: number | null; output: string } {
  write({ 'package.json': '{"type":"module"}', ...files });
  const { status, stdout, stderr } = spawnSync(
    join(root, 'node_modules/.bin/depcruise'),
    ['--config', join(root, '.dependency-cruiser.cjs'), 'src'],
    { cwd: house, encoding: 'utf8' },
  );
  return { status, output: stdout + stderr };
}

const legal = {
  'src/shared/word.ts': 'export const word = 1;\n',
  'src/actors/core/mailbox.ts':
    "import { word } from '../../shared/word.js';\nexport const box = word;\n",
  'src/workers/gate.ts':
    "import { hrtime } from 'node:process';\nimport { box } from '../actors/core/mailbox.js';\nexport const gate = [box, hrtime];\n",
  'src/adapters/grpc.ts':
    "import type { gate } from '../workers/gate.js';\nexport type G = typeof gate;\n",
  'src/cli/main.ts':
    "import type { G } from '../adapters/grpc.js';\nimport type { gate } from '../workers/gate.js';\nexport type C = G | typeof gate;\n",
};

describe('direction of imports', () => {
  it('accepts cli -> adapters -> workers -> actors -> shared', () => {
    const { status, output } = cruise(legal);
    expect(output).toContain('no dependency violations found');
    expect(status).toBe(0);
  });

  it.each([
    ['shared -> actors', 'src/shared/a.ts', '../actors/core/mailbox.js', 'shared-knows-nobody'],
    ['shared -> node:*', 'src/shared/a.ts', 'node:process', 'shared-knows-nobody'],
    ['actors -> workers', 'src/actors/a.ts', '../workers/gate.js', 'actors-know-shared-only'],
    ['actors -> node:*', 'src/actors/core/a.ts', 'node:worker_threads', 'actors-know-shared-only'],
    [
      'testing -> workers',
      'src/testing/kit.ts',
      '../workers/gate.js',
      'testing-knows-actors-and-shared',
    ],
    ['workers -> adapters', 'src/workers/a.ts', '../adapters/grpc.js', 'workers-stay-below'],
    ['workers -> cli', 'src/workers/a.ts', '../cli/main.js', 'nobody-imports-the-command'],
    ['adapters -> cli', 'src/adapters/a.ts', '../cli/main.js', 'nobody-imports-the-command'],
  ])('refuses %s, also as a type', (_name, file, target, rule) => {
    const { status, output } = cruise({
      ...legal,
      [file]: `import type * as back from '${target}';\nexport type Back = typeof back;\n`,
    });
    expect(output).toContain(rule);
    expect(status).not.toBe(0);
  });

  it('refuses a cycle inside a layer, also of types', () => {
    const { status, output } = cruise({
      'src/shared/a.ts': "import type { B } from './b.js';\nexport type A = B | 1;\n",
      'src/shared/b.ts': "import type { A } from './a.js';\nexport type B = A | 2;\n",
    });
    expect(output).toContain('no-cycles');
    expect(status).not.toBe(0);
  });
});

describe('globals', () => {
  it.each([
    ['shared', 'Date.now()'],
    ['shared', 'performance.now()'],
    ['shared', 'process.pid'],
    ['shared', 'setTimeout(() => {}, 1)'],
    ['actors', 'setTimeout(() => {}, 1)'],
    ['actors', 'new SharedArrayBuffer(8)'],
  ])('%s may not say %s', (layer, expression) => {
    copyFileSync(join(root, 'biome.json'), join(house, 'biome.json'));
    write({ [`src/${layer}/leak.ts`]: `export const leak = ${expression};\n` });
    const { status, stdout, stderr } = spawnSync(
      join(root, 'node_modules/.bin/biome'),
      ['lint', '.'],
      { cwd: house, encoding: 'utf8' },
    );
    expect(stdout + stderr).toContain('noRestrictedGlobals');
    expect(status).not.toBe(0);
  });
});
