import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from './command-process.js';

// Both commands over runtimes of processes of their own, each with its admin server.

const ENTRY = fileURLToPath(new URL('throttled-backend.mjs', import.meta.url));
const SECRET = 'secret-of-the-second';
const children: ChildProcess[] = [];
let dir: string;
let urls: readonly string[];

function start(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [ENTRY, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()));
    child.once('exit', (code) => reject(new Error(`the backend has ended with ${code}`)));
  });
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'spillway-cli-'));
  urls = await Promise.all([start('1', '10086'), start('2', 'orders "new"', SECRET)]);
  writeFileSync(join(dir, 'tokens'), `${urls[1]} ${SECRET}\n`);
}, 120_000);

afterAll(async () => {
  for (const child of children) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin?.end();
    expect(await ended).toBe(0);
  }
  rmSync(dir, { recursive: true, force: true });
});

it('the system table shows what each of them has throttled, and why', async () => {
  const sql = `SELECT k.be_id, k.table_id, k.table_key, k.rpc_type, k.qps_limit > 0 AS limited, h.kind, s.ok
    FROM spillway.backend_ms_rpc_table_throttler_keys k
    JOIN spillway.backend_throttle_history h USING (be_id, table_key, rpc_type)
    JOIN spillway.backend_status s USING (be_id)
    WHERE h.seq = 1 ORDER BY 1`;
  const { stdout, stderr, code } = await runCommand([
    ...['sql', sql, '--json', '--backends', urls.join(), '--token-file', join(dir, 'tokens')],
    ...['--backend-timeout-ms', '20000'],
  ]);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  const common = { rpc_type: 'COMMIT_ROWSET', limited: true, kind: 'upgrade', ok: true };
  expect(JSON.parse(stdout)).toEqual([
    { be_id: 1, table_id: 10_086, table_key: '10086', ...common },
    { be_id: 2, table_id: null, table_key: 'orders "new"', ...common },
  ]);
});

it('the view shows the same, and who wants a token', async () => {
  const args = [
    'top',
    '--backends',
    urls.join(),
    '--interval',
    '0.1',
    '--backend-timeout-ms',
    '20000',
  ];
  const without = await runCommand(args);
  expect(without.code).toBe(0);
  expect(without.stdout).toContain('1/2 up');
  expect(without.stdout).toContain('HTTP 401: it wants a token');
  expect(without.stdout).toMatch(/^1 +commit_rowset 10086 /m);
  const { stdout } = await runCommand([...args, '--token-file', join(dir, 'tokens')]);
  expect(stdout).toContain('2/2 up  2 throttled');
  expect(stdout).toMatch(/^2 +commit_rowset orders "new" /m);
});
