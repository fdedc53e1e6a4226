import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuntimeState } from '../../src/workers/state/runtime-state.js';
import { rpcSample } from '../adapters/snapshot-sample.js';
import { MAIN, run, type SqlServer, startSqlServer } from '../cli/command-process.js';
import { busyState, limit, type ScriptedBackend, startBackend } from '../cli/scripted-backend.js';

// The examples of the guides, against two backends whose state is scripted. Only ports are others.

const guide = (name: string): string =>
  readFileSync(new URL(`../../docs/guide/${name}.md`, import.meta.url), 'utf8');
const EXAMPLE = /```sh\n(.*)\n```\n\nIt prints[^\n]*:\n\n```\n([\s\S]*?)```/g;
const examplesOf = (name: string): { command: string; printed: string }[] =>
  [...guide(name).matchAll(EXAMPLE)].map(([, command = '', printed = '']) => ({
    command,
    printed,
  }));

const ONE = busyState('10001', [
  limit('10086', { qpsLimit: 12, currentQps: 11.5 }),
  limit('orders', { qpsLimit: 3, currentQps: 2.5, rpc: 'get_version' }),
]);
const TWO = busyState('10002', [limit('10010', { qpsLimit: 7.25, currentQps: 7 })]);

let one: ScriptedBackend;
let two: ScriptedBackend;
let server: SqlServer;

beforeAll(async () => {
  [one, two] = await Promise.all([startBackend(ONE), startBackend(TWO)]);
  server = await startSqlServer(['--backends', `${one.url},${two.url}`]);
}, 120_000);

afterAll(async () => {
  await server.stop();
  await Promise.all([one.stop(), two.stop()]);
});

/** Runs a command of a guide in a shell, and gives back what it prints as the guide's machine would. */
async function shell(
  command: string,
  first: string,
  second: string,
  environment: Record<string, string> = {},
): Promise<string> {
  const text = command
    .replace('npx spillway', `'${process.execPath}' '${MAIN}'`)
    .replaceAll(first, one.url)
    .replaceAll(second, two.url)
    .replace('54329', String(server.port));
  const { code, stdout, stderr } = await run('sh', ['-c', text], {
    PATH: process.env['PATH'] ?? '',
    PSQLRC: '/dev/null',
    LC_ALL: 'C.UTF-8',
    ...environment,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.replaceAll(one.url, first).replaceAll(two.url, second);
}

describe('docs/guide/sql.md', () => {
  const examples = examplesOf('sql');

  it('has the examples that it announces', () => {
    expect(examples).toHaveLength(5);
    expect(guide('sql').match(/^It prints:$/gm)).toHaveLength(5);
  });

  it.each(examples)('$command', async ({ command, printed }) => {
    expect(await shell(command, 'http://127.0.0.1:9464', 'http://127.0.0.1:9465')).toBe(printed);
  });

  it('sends the tokens that it says', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-guide-'));
    const seen: (string | undefined)[] = [];
    for (const backend of [one, two]) {
      backend.answer = (request, response) => {
        seen.push(request.headers.authorization);
        response.end(JSON.stringify(backend.state));
      };
    }
    writeFileSync(join(dir, 'tokens'), `${one.url} first\n${two.url} second\n`);
    const lines = guide('sql').match(/^.*npx spillway sql 'SELECT 1'.*$/gm) ?? [];
    expect(lines).toHaveLength(2);
    const hosts = ['http://10.0.0.1:9464', 'http://10.0.0.2:9464'] as const;
    await shell(lines[0]?.replace('=...', '=mine') ?? '', ...hosts);
    await shell(lines[1]?.replace('tokens', join(dir, 'tokens')) ?? '', ...hosts);
    expect(seen.sort()).toEqual(['Bearer first', 'Bearer mine', 'Bearer second']);
    one.answer = undefined;
    two.answer = undefined;
    rmSync(dir, { recursive: true });
  });
});

describe('docs/guide/top.md', () => {
  /** What a backend says a second later. */
  function later(state: RuntimeState): RuntimeState {
    const { runtime } = state;
    const [rpc] = runtime?.rpcs ?? [];
    if (runtime === null || rpc === undefined) throw new Error('no runtime');
    const { calls, busy, spent, refused } = rpc;
    const moved = {
      ...rpc,
      calls: calls + 88,
      busy: busy + 12,
      spent: spent + 86,
      refused: refused + 3,
    };
    return {
      ...state,
      atMs: state.atMs + 1000,
      runtime: { ...runtime, rpcs: [moved, rpcSample('get_version', { qpsLimit: 300 })] },
    };
  }

  it('has a sample of the screen', async () => {
    const [example, ...more] = examplesOf('top');
    expect(more).toEqual([]);
    for (const backend of [one, two]) {
      const states = [backend.state, later(backend.state)];
      backend.answer = (_request, response) => {
        response.end(JSON.stringify(states.shift()));
      };
    }
    // As many digits as our ports have: the lines are cut at 80.
    const ports = ['http://127.0.0.1:49464', 'http://127.0.0.1:49465'] as const;
    const text = await shell(example?.command ?? '', ...ports, { COLUMNS: '80' });
    expect(text.replace(/\d\d:\d\d:\d\dZ/, '12:00:01Z')).toBe(example?.printed);
    one.answer = undefined;
    two.answer = undefined;
  });
});
