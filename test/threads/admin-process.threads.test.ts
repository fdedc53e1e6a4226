import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProcess } from './test-process.js';

/** It ended by itself, without an error, and nothing kept it for longer than a machine that stalls. */
const BY_ITSELF = { code: 0, signal: null, stderr: '' };
const PROMPTLY_MS = 5000;

describe('a process with an admin server ends by itself', () => {
  it('after it has closed its runtime, with streams open, and no handle is left', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const resources = (): string[] =>
        process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY|Req/.test(name));
      const before = resources();
      const http = process.getBuiltinModule('node:http');
      const runtime = await spillway.createRuntime();
      const { url } = await runtime.admin.listen({ port: 0 });
      await runtime.admin.listen({ port: 0 });
      const ends: Promise<void>[] = [];
      for (let i = 0; i < 3; i += 1) {
        await new Promise<void>((begun) => {
          http.get(`${url}/events`, { agent: false }, (response) => {
            response.once('data', () => begun());
            ends.push(new Promise((resolve) => response.once('close', () => resolve())));
          });
        });
      }
      await runtime.close();
      await Promise.all(ends);
      await new Promise((resolve) => setTimeout(resolve, 20));
      say([...before, ...resources()]);
    });
    expect(ended).toMatchObject({ ...BY_ITSELF, said: [[]] });
    expect(ended.lingeredMs).toBeLessThan(PROMPTLY_MS);
  });

  it('also when it never closes it: to be seen is no reason to live on', async () => {
    const ended = await runProcess(async ({ spillway, say }) => {
      const runtime = await spillway.createRuntime();
      const { url } = await runtime.admin.listen({ port: 0 });
      // Somebody else's process, which looks on.
      const { spawn } = process.getBuiltinModule('node:child_process');
      const look = `fetch('${url}/events').then((r) => r.body.getReader().read()).then(() => {
        console.log('seen');
        setInterval(() => undefined, 1000);
      })`;
      const onlooker = spawn(process.execPath, ['--eval', look], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      await new Promise((resolve) => onlooker.stdout.once('data', resolve));
      onlooker.stdout.destroy();
      onlooker.unref();
      process.once('exit', () => onlooker.kill('SIGKILL'));
      say((await (await fetch(`${url}/healthz`)).json()) !== undefined);
    });
    expect(ended).toMatchObject({ ...BY_ITSELF, said: [true] });
    expect(ended.lingeredMs).toBeLessThan(PROMPTLY_MS);
  });
});

it('is not healthy while its control thread is dead, and is when there is another', async () => {
  const ended = await runProcess(async ({ spillway, say }) => {
    const workers: import('node:worker_threads').Worker[] = [];
    process.on('worker', (worker) => workers.push(worker));
    const runtime = await spillway.createRuntime();
    const alive = setInterval(() => undefined, 1000);
    const { url } = await runtime.admin.listen({ port: 0 });
    const health = async (): Promise<unknown[]> => {
      const answer = await fetch(`${url}/healthz`);
      const body = (await answer.json()) as { status: string; controlGeneration: number };
      return [answer.status, body.status, body.controlGeneration];
    };
    say(await health());
    const restarted = new Promise((resolve) => runtime.on('control-restart', resolve));
    // In the turn of its death, before there is time for a successor.
    workers[0]?.once('exit', () => say(runtime.health().status));
    await workers[0]?.terminate();
    await restarted;
    say(await health());
    clearInterval(alive);
    await runtime.close();
    say(runtime.health().status);
  });
  expect(ended).toMatchObject(BY_ITSELF);
  expect(ended.said).toEqual([[200, 'ok', 1], 'no-control-thread', [200, 'ok', 2], 'closing']);
});

describe('where a peer is not installed', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'spillway-peers-'));
    const installed = join(dir, 'node_modules');
    mkdirSync(join(installed, 'spillway'), { recursive: true });
    cpSync(join(root, 'dist'), join(installed, 'spillway/dist'), { recursive: true });
    cpSync(join(root, 'package.json'), join(installed, 'spillway/package.json'));
    for (const name of ['comlink', 'piscina', 'zod']) {
      symlinkSync(join(root, 'node_modules', name), join(installed, name));
    }
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const run = async (program: string): Promise<unknown> => {
    const args = ['--unhandled-rejections=strict', '--input-type=module', '--eval', program];
    const options = { cwd: dir, timeout: 30_000 };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
    return stderr === '' ? JSON.parse(stdout) : stderr;
  };

  it('listen says what to install, and everything else works', async () => {
    const said = await run(`
      import { createRuntime } from 'spillway';
      import { adminRoutes } from 'spillway/adapters/admin';
      const runtime = await createRuntime({ host: { rpcs: { a: {} } } });
      const refused = await runtime.admin.listen({ port: 0 }).catch((error) => error);
      const taken = runtime.gate.tryAcquire('a');
      await runtime.close();
      console.log(JSON.stringify([refused.message, refused.cause.code, taken, typeof adminRoutes]));
    `);
    expect(said).toEqual([
      'fastify cannot be loaded: install it (npm install fastify@5) to use the admin server',
      'ERR_MODULE_NOT_FOUND',
      true,
      'function',
    ]);
  });

  it('only /metrics lacks prom-client, and says so', async () => {
    symlinkSync(join(root, 'node_modules/fastify'), join(dir, 'node_modules/fastify'));
    const said = await run(`
      import { createRuntime } from 'spillway';
      const runtime = await createRuntime();
      const { url } = await runtime.admin.listen({ port: 0 });
      const metrics = await fetch(url + '/metrics');
      const said = [metrics.status, await metrics.json()];
      for (const path of ['/', '/state', '/config', '/healthz']) {
        const answer = await fetch(url + path);
        said.push(answer.status);
        await answer.text();
      }
      await runtime.close();
      console.log(JSON.stringify(said));
    `);
    expect(said).toEqual([
      501,
      {
        error: {
          code: 'not_installed',
          message: 'prom-client cannot be loaded: install it (npm install prom-client@15)',
        },
      },
      200,
      200,
      200,
      200,
    ]);
  });
});
