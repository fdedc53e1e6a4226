import { execFile } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { PutKvRequest } from '../../src/adapters/kv-protocol.js';
import {
  createKvWriter,
  type KvWriter,
  type KvWriterOptions,
} from '../../src/adapters/kv-writer.js';
import { tempDirs } from '../adapters/temp-dir.js';
import { HoldingProxy } from './holding-proxy.js';
import { KvProcess, KvTestClient } from './kv-process.js';
import { type KvStep, type ScriptedKv, startScriptedKv, taken } from './scripted-kv.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Nothing keeps a process for longer than a machine that stalls. */
const PROMPTLY_MS = 5000;
const tempDir = tempDirs();
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serve(
  dir: string,
  ...args: string[]
): Promise<{ server: KvProcess; address: string }> {
  const server = new KvProcess(['--dir', dir, '--tables', 't:4', ...args]);
  ends.push(() => server.end('SIGKILL'));
  return { server, address: await server.said('listening on ') };
}

async function write(
  target: KvWriterOptions['target'],
  options: Omit<KvWriterOptions, 'target'> = {},
): Promise<KvWriter> {
  const writer = await createKvWriter({ target, ...options });
  ends.push(() => writer.close({ deadlineMs: 0 }));
  return writer;
}

function reader(address: string): KvTestClient {
  const client = new KvTestClient(address);
  ends.push(() => client.close());
  return client;
}

async function script(
  answer: (request: PutKvRequest, turn: number) => KvStep,
): Promise<ScriptedKv> {
  const server = await startScriptedKv(answer);
  ends.push(() => server.stop());
  return server;
}

/** A promise that may reject before anybody looks at it. */
function kept<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

const fateOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    (error: { code?: string }) => error.code ?? error,
  );

describe('a writer and the real server', () => {
  it('puts and deletes in order, by key and by bucket, in the log and in the store', async () => {
    const { address } = await serve(tempDir(), '--port', '0');
    const client = reader(address);
    const writer = await write(['127.0.0.1:1', address], { completion: 'flush' });
    const puts = [0, 1, 2].map((i) => writer.put('t', 'k', `${i}`, { bucket: 2 }));
    const gone = [
      writer.put('t', Buffer.from('x'), 'x', { bucket: 2 }),
      writer.delete('t', 'x', { bucket: 2 }),
    ];
    expect(await Promise.all([...puts, ...gone])).toEqual(
      Array.from({ length: 5 }, () => ({ bucket: 2, logEndOffset: 5 })),
    );
    expect(await client.get('t', 2, 'k', 'x')).toEqual(['2', null]);
    const { bucket } = await writer.put('t', 'by key', 'v');
    expect(await client.get('t', bucket, 'by key')).toEqual(['v']);
    const strange = [
      writer.put('t', 'k', 'v', { bucket: 4 }),
      writer.put('nobody', 'k', 'v'),
      writer.put('t', '', 'v'),
      writer.put('t', 'k', null as never),
    ];
    expect(await Promise.all(strange.map(fateOf))).toEqual([
      'ERR_SPILLWAY_KV_UNKNOWN_BUCKET',
      'ERR_SPILLWAY_KV_UNKNOWN_BUCKET',
      'ERR_SPILLWAY_KV_RECORD',
      expect.any(TypeError),
    ]);
    expect(writer.stats()).toMatchObject({ records: 0, bufferedBytes: 0, acknowledged: 6 });
  });

  it('that is killed and started again in mid-load loses nothing that was acknowledged and keeps the order', async () => {
    const dir = tempDir();
    let { server, address } = await serve(dir, '--port', '0');
    const port = address.split(':').at(-1) as string;
    const writer = await write(address, {
      lingerMs: 1,
      batchBytes: 2000,
      retry: { minRetryMs: 20, maxRetryMs: 100 },
    });
    const KEYS = 40;
    const newest = new Map<string, number>();
    let acknowledged = 0;
    let isOver = false;
    /** Each key is written again and again, without waiting: only their order tells what it must be in the end. */
    const load = (async () => {
      for (let version = 1; !isOver; version += 1) {
        for (let i = 0; i < KEYS; i += 1) {
          const key = `key ${i}`;
          newest.set(key, version);
          kept(
            writer.put('t', key, `${version}`, { bucket: i % 4 }).then(() => {
              acknowledged += 1;
            }),
          );
        }
        await writer.ready();
        await sleep(1);
      }
    })();
    for (let round = 0; round < 2; round += 1) {
      const before = acknowledged;
      while (acknowledged < before + 400) await sleep(5);
      await server.end('SIGKILL');
      ({ server, address } = await serve(dir, '--port', port));
    }
    const before = acknowledged;
    while (acknowledged < before + 400) await sleep(5);
    isOver = true;
    await load;
    await writer.flush();
    const { given, retries } = writer.stats();
    expect(acknowledged).toBe(given);
    expect(retries).toBeGreaterThan(0);
    const client = reader(address);
    for (const [key, version] of newest) {
      const bucket = Number(key.split(' ')[1]) % 4;
      expect(await client.get('t', bucket, key), key).toEqual([`${version}`]);
    }
  });

  it('takes no attempt that was given up, however late it arrives in a connection that was lost', async () => {
    const port = await freePort();
    const proxy = await HoldingProxy.start(port);
    ends.push(() => proxy.stop());
    const advertise = ['--advertise', `127.0.0.1:${proxy.port}`];
    await serve(tempDir(), '--port', String(port), ...advertise);
    const writer = await write(`127.0.0.1:${proxy.port}`, {
      lingerMs: 0,
      retry: { minRetryMs: 10, maxRetryMs: 50 },
    });
    await writer.put('t', 'k', 'first', { bucket: 0 });
    const held = proxy.hold(1000);
    const old = writer.put('t', 'k', 'old'.padEnd(1500, '.'), { bucket: 0 });
    await held;
    proxy.breakHeld();
    expect(await old).toEqual({ bucket: 0, logEndOffset: 2 });
    expect(await writer.put('t', 'k', 'new', { bucket: 0 })).toMatchObject({ logEndOffset: 3 });
    expect(proxy.connections).toBeGreaterThan(1);
    proxy.deliver();
    const client = reader(`127.0.0.1:${port}`);
    // Long enough that the server has read it: it is refused, and nothing of it is in the log.
    for (let i = 0; i < 20; i += 1) {
      expect(await client.get('t', 0, 'k')).toEqual(['new']);
      await sleep(10);
    }
    expect(await writer.put('t', 'z', 'z', { bucket: 0 })).toMatchObject({ logEndOffset: 4 });
  });

  it('is left in mid-batch: each batch is there whole or not at all, what was acknowledged is there', async () => {
    const { address } = await serve(tempDir(), '--port', '0');
    const writer = await createKvWriter({ target: address, lingerMs: 0, batchBytes: 4000 });
    await writer.put('t', 'first', '', { bucket: 0 });
    const fates: Promise<unknown>[] = [];
    for (let i = 0; i < 4000; i += 1)
      fates.push(fateOf(writer.put('t', `${i}`, 'v', { bucket: 0 })));
    await sleep(20);
    await writer.close({ deadlineMs: 0 });
    const settled = await Promise.all(fates);
    const client = reader(address);
    const found = new Set<string>();
    // In one call, which sees the last batch whole or not at all; it may still be on its way.
    const keys = Array.from({ length: 4000 }, (_, i) => `${i}`);
    const values = await client.get('t', 0, ...keys);
    keys.forEach((key, i) => {
      if (values[i] !== null) found.add(key);
    });
    expect(
      settled.every((one) => one === 'resolved' || one === 'ERR_SPILLWAY_KV_WRITER_CLOSED'),
    ).toBe(true);
    settled.forEach((one, i) => {
      if (one === 'resolved') expect(found.has(`${i}`)).toBe(true);
    });
    // A prefix: nothing in between is missing.
    expect([...found].map(Number)).toEqual(Array.from(found, (_, i) => i));
  });
});

describe('a writer and a server that answers', () => {
  it.each([Number.NaN, 7, -1])(
    'pressure %s is held up for no longer than it may be',
    async (pressure) => {
      const { address, puts } = await script((request) => taken(request, { pressure }));
      const writer = await write(address, { lingerMs: 0, pressure: { maxThrottleMs: 100 } });
      for (let i = 0; i < 3; i += 1) await writer.put('t', `${i}`, 'v', { bucket: 0 });
      expect(puts.length).toBe(3);
      expect(writer.stats().throttledMs > 0).toBe(pressure === 7);
      expect(writer.stats().throttledMs).toBeLessThanOrEqual(200);
    },
  );

  it('garbage, nothing, or half of it tries again until it is acknowledged', async () => {
    const bad: KvStep[] = [
      { bytes: Buffer.from([0xff, 0xff, 0xff]) },
      { bytes: Buffer.alloc(0) },
      { reply: { buckets: [] } },
      { reply: { buckets: [{ bucket: 3, errorCode: 0, logEndOffset: 1 }] } },
      { reply: { buckets: [{ bucket: 0, errorCode: 0 }] } },
      { status: status.UNAVAILABLE },
      { status: status.INTERNAL },
      { status: status.RESOURCE_EXHAUSTED },
      'hang',
    ];
    const { address, puts } = await script((request, turn) => bad[turn] ?? taken(request));
    const writer = await write(address, {
      lingerMs: 0,
      requestTimeoutMs: 2000,
      retry: { minRetryMs: 5, maxRetryMs: 10 },
    });
    expect(await writer.put('t', 'k', 'v', { bucket: 0 })).toEqual({ bucket: 0, logEndOffset: 1 });
    expect(puts.length).toBe(bad.length + 1);
    const numbers = puts.map(({ attempt }) => attempt);
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
    expect(new Set(puts.map((request) => request.writer)).size).toBe(1);
  });

  it('an unknown code, or who it does not serve, is rejected at once', async () => {
    const bad: KvStep[] = [
      { reply: { buckets: [{ bucket: 0, errorCode: 77, errorMessage: 'odd' }] } },
      { status: status.PERMISSION_DENIED },
      { status: status.UNIMPLEMENTED },
    ];
    const { address } = await script((request, turn) => bad[turn] ?? taken(request));
    const writer = await write(address, { lingerMs: 0 });
    const put = (): Promise<unknown> =>
      writer.put('t', 'k', 'v', { bucket: 0 }).catch((error) => error);
    expect(await put()).toMatchObject({ storageCode: 77, message: 't/0 did not take it: odd' });
    expect(await put()).toMatchObject({ storageCode: undefined, outcome: 'unknown' });
    expect(await put()).toMatchObject({ cause: { code: status.UNIMPLEMENTED } });
    expect(await put()).toEqual({ bucket: 0, logEndOffset: 1 });
  });

  it('nothing, while another one leads the bucket by now, goes to that one in its turn', async () => {
    const old = await script(() => 'hang');
    const next = await script((request) => taken(request));
    const first = await script((request) => taken(request));
    first.leader = old.address;
    const writer = await write(first.address, {
      lingerMs: 0,
      metadataRefreshMs: 50,
      requestTimeoutMs: 500,
      retry: { minRetryMs: 10, maxRetryMs: 20 },
    });
    const puts = [writer.put('t', 'a', 'v', { bucket: 0 })];
    while (old.puts.length === 0) await sleep(5);
    puts.push(writer.put('t', 'b', 'v', { bucket: 0 }));
    first.leader = next.address;
    await Promise.all(puts);
    const keys = next.puts.flatMap(({ buckets }) =>
      buckets[0]?.records.map(({ key }) => String(key)),
    );
    expect(keys).toEqual(['a', 'b']);
    expect(old.puts.length).toBe(1);
    expect(first.puts.length).toBe(0);
  });

  it('nothing at all is given up at the delivery timeout', async () => {
    const { address } = await script(() => 'hang');
    const writer = await write(address, {
      lingerMs: 0,
      deliveryTimeoutMs: 200,
      requestTimeoutMs: 10_000,
    });
    const put = kept(writer.put('t', 'k', 'v', { bucket: 0 }));
    await writer.flush();
    expect(await put.catch((error) => error)).toMatchObject({
      code: 'ERR_SPILLWAY_KV_DELIVERY_TIMEOUT',
      outcome: 'unknown',
    });
  });
});

describe('a process with a writer', () => {
  const run = async (program: string, cwd = root): Promise<{ stdout: string; stderr: string }> => {
    const args = ['--unhandled-rejections=strict', '--input-type=module', '--eval', program];
    return promisify(execFile)(process.execPath, args, { cwd, timeout: 30_000 });
  };

  it('ends by itself when the writer is idle, and when it is closed', async () => {
    const { address } = await serve(tempDir(), '--port', '0');
    for (const last of ['', 'await writer.close(); await writer.close()']) {
      const { stdout, stderr } = await run(`
        import { createKvWriter } from 'spillway/kv/client'
        const writer = await createKvWriter({ target: '${address}' })
        console.log((await writer.put('t', 'k', 'v', { bucket: 1 })).bucket)
        ${last}
      `);
      expect({ stdout, stderr }).toEqual({ stdout: '1\n', stderr: '' });
    }
  });

  it('ends by itself when it is closed while a request hangs', async () => {
    const { address } = await script(() => 'hang');
    const { stdout } = await run(`
      import { createKvWriter } from 'spillway/kv/client'
      const writer = await createKvWriter({ target: '${address}', lingerMs: 0 })
      writer.put('t', 'k', 'v').catch(({ code, outcome }) => console.log(code, outcome))
      while (writer.stats().inFlight === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      await writer.close({ deadlineMs: 0 })
      const closedMs = performance.now()
      process.on('exit', () => console.log(performance.now() - closedMs < ${PROMPTLY_MS}))
    `);
    expect(stdout).toBe('ERR_SPILLWAY_KV_WRITER_CLOSED unknown\ntrue\n');
  });

  it('ends by itself also when nobody was ever there', async () => {
    const { stdout } = await run(`
      import { createKvWriter } from 'spillway/kv/client'
      const writer = await createKvWriter({ target: '127.0.0.1:1', deliveryTimeoutMs: 300 })
      await writer.put('t', 'k', 'v').catch(({ code, outcome }) => console.log(code, outcome))
    `);
    expect(stdout).toBe('ERR_SPILLWAY_KV_DELIVERY_TIMEOUT not-taken\n');
  });

  it('imports the entry without its peers, and learns what it lacks when it makes one', async () => {
    const dir = tempDir();
    const installed = join(dir, 'node_modules/spillway');
    mkdirSync(installed, { recursive: true });
    cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true });
    cpSync(join(root, 'package.json'), join(installed, 'package.json'));
    const { stdout } = await run(
      `
        import { createKvWriter } from 'spillway/kv/client'
        await createKvWriter({ target: 'a:1' }).catch(({ message, cause }) => console.log(message, cause.code))
      `,
      dir,
    );
    expect(stdout).toBe(
      '@grpc/grpc-js and @grpc/proto-loader cannot be loaded: install them to use this writer ERR_MODULE_NOT_FOUND\n',
    );
  });
});

async function freePort(): Promise<number> {
  const probe = await HoldingProxy.start(1);
  const { port } = probe;
  probe.stop();
  return port;
}
