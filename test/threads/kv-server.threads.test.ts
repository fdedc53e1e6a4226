import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as http2Connect } from 'node:http2';
import { basename, join } from 'node:path';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { loadKvService } from '../../src/adapters/kv-protocol.js';
import type { RuntimeState } from '../../src/workers/state/runtime-state.js';
import { tempDirs } from '../adapters/temp-dir.js';
import { KvProcess, KvTestClient } from './kv-process.js';

const tempDir = tempDirs();
const running: KvProcess[] = [];
const clients: KvTestClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
});

function start(dir: string, ...args: string[]): KvProcess {
  const server = new KvProcess(['--dir', dir, '--port', '0', ...args]);
  running.push(server);
  return server;
}

async function connect(server: KvProcess): Promise<KvTestClient> {
  const client = new KvTestClient(await server.said('listening on '));
  clients.push(client);
  return client;
}

describe('the key-value server', () => {
  it('puts, gets, scans, describes, shows its metrics and ends cleanly on SIGTERM', async () => {
    const dir = tempDir();
    const server = start(dir, '--tables', 'orders:2,users:1', '--metrics-port', '0');
    const client = await connect(server);
    const rows = ['a', 'b', 'c'].map((key) => ({ key, value: `${key} 1` }));
    const put = await client.put('orders', { 0: rows, 1: [{ key: 'z', value: '' }] });
    expect(put.buckets).toEqual([
      { bucket: 0, errorCode: 0, errorMessage: '', logEndOffset: 3 },
      { bucket: 1, errorCode: 0, errorMessage: '', logEndOffset: 1 },
    ]);
    const change = [
      { key: 'b', value: null },
      { key: 'c', value: 'c 2' },
    ];
    await client.put('orders', { 0: change }, 'COMPLETION_FLUSH');
    expect(await client.get('orders', 0, 'a', 'b', 'c', 'd')).toEqual(['a 1', null, 'c 2', null]);
    expect(await client.get('orders', 1, 'z')).toEqual(['']);
    const scan = await client.scan({ table: 'orders', bucket: 0, limit: 1 });
    expect(scan.rows.map(({ key, value }) => `${key}=${value}`)).toEqual(['a=a 1']);
    expect(scan.hasMore).toBe(true);
    const { tables } = await client.describe();
    expect(tables.map(({ name, buckets }) => [name, buckets.length])).toEqual([
      ['orders', 2],
      ['users', 1],
    ]);
    expect(tables[0]?.buckets[0]?.leader).toBe(await server.said('listening on '));
    expect((await client.describe('users', 'nobody')).tables).toHaveLength(1);

    const metrics = await (await fetch(await server.said('metrics on '))).text();
    expect(metrics).toContain('spillway_kv_backpressure_max_pressure{table="orders"} 0');
    expect(metrics).toContain('spillway_kv_backpressure_rejections_total{table="orders"} 0');
    expect(metrics).toContain('spillway_kv_records_total{table="orders"} 6');
    expect(metrics).toMatch(/spillway_kv_flush_seconds_count\{table="orders"\} [1-9]/);

    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.output).toContain('closed\n');
    expect(server.errors).toBe('');
    // Tables of the directory are opened anyway.
    const again = await connect(start(dir));
    expect(await again.get('orders', 0, 'a', 'b', 'c')).toEqual(['a 1', null, 'c 2']);
  });

  it('shows its state and its health to who looks from outside', async () => {
    const dir = tempDir();
    const server = start(dir, '--tables', 'orders:2', '--metrics-port', '0');
    const client = await connect(server);
    const metrics = new URL(await server.said('metrics on '));
    const ask = (path: string, init?: RequestInit) => fetch(new URL(path, metrics), init);
    await client.put('orders', { 1: [{ key: 'a', value: 'v' }] }, 'COMPLETION_FLUSH');

    const response = await ask('/state?fresh');
    expect(response.headers.get('content-type')).toBe('application/json');
    const state = (await response.json()) as RuntimeState;
    expect(state).toMatchObject({
      schema: 1,
      backendId: null,
      pid: server.child.pid,
      runtime: null,
      throttled: [],
      throttledTotal: 0,
      history: [],
      events: [],
      stores: [
        {
          name: basename(dir),
          tables: [
            {
              table: 'orders',
              records: 1,
              flushedRecords: 1,
              buckets: [
                { bucket: 0, pressure: 0, l0Files: 0, pendingBytes: 0, preWriteEntries: 0 },
                { bucket: 1, pressure: 0, l0Files: 0, pendingBytes: 0, preWriteEntries: 0 },
              ],
            },
          ],
        },
      ],
    });
    expect(state.stores[0]?.logBytes).toBeGreaterThan(0);
    const later = (await (await ask('/state')).json()) as RuntimeState;
    expect(later.runtimeId).toBe(state.runtimeId);
    expect(later.startedAt).toBe(state.startedAt);
    expect(later.atMs).toBeGreaterThan(state.atMs);

    const health = await ask('/healthz');
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    expect((await ask('/healthz', { method: 'HEAD' })).status).toBe(200);
    expect((await ask('/state', { method: 'POST' })).status).toBe(405);
    expect((await ask('/nothing')).status).toBe(404);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  it('has every acknowledged record after kill -9 under load, each batch whole, and goes on', async () => {
    const dir = tempDir();
    const acknowledged = new Set<number>();
    let asked = 0;
    for (let round = 0; round < 3; round += 1) {
      const server = start(dir, '--tables', 't:1', '--write-buffer-size', '65536');
      const client = await connect(server);
      // What was acknowledged is there, and what was not is there whole or not at all.
      for (let n = 0; n < asked; n += 1) {
        const found = await client.get('t', 0, `${n}/0`, `${n}/1`, `${n}/2`);
        const whole = [0, 1, 2].map((i) => `${n}.${i}`);
        if (acknowledged.has(n) || found[0] !== null) expect(found).toEqual(whole);
        else expect(found).toEqual([null, null, null]);
      }
      const killAt = asked + 40 + round * 25;
      for (;;) {
        const n = asked;
        const rows = [0, 1, 2].map((i) => ({ key: `${n}/${i}`, value: `${n}.${i}` }));
        asked += 1;
        const put = client.put('t', { 0: rows });
        if (n === killAt) {
          put.catch(() => {});
          await server.end('SIGKILL');
          break;
        }
        expect((await put).buckets[0]?.errorCode).toBe(0);
        acknowledged.add(n);
      }
    }
  });

  it('says what is wrong with a request, and takes nothing of it', async () => {
    const client = await connect(start(tempDir(), '--tables', 't:2'));
    const code = async (table: string, bucket: number, ...rows: { key: string; value: string }[]) =>
      (await client.put(table, { [bucket]: rows })).buckets[0];
    const row = { key: 'k', value: 'v' };
    expect(await code('x', 0, row)).toMatchObject({
      errorCode: 1,
      errorMessage: 'there is no table x',
    });
    expect(await code('t', 2, row)).toMatchObject({
      errorCode: 2,
      errorMessage: 'table t has buckets 0 to 1, not 2',
    });
    expect(await code('t', 0)).toMatchObject({ errorCode: 3 });
    expect(await code('t', 0, row, { key: '', value: 'v' })).toMatchObject({
      errorCode: 3,
      errorMessage: 'a key must have a byte',
    });
    expect(await code('t', 0, row, { key: 'k'.repeat(4097), value: 'v' })).toMatchObject({
      errorCode: 3,
      errorMessage: 'a key must have at most 4096 bytes, got 4097',
    });
    const large = 'v'.repeat(1024 * 1024 + 1);
    expect(await code('t', 0, { key: 'k', value: large })).toMatchObject({ errorCode: 3 });
    const long = Array.from({ length: 5 }, (_, i) => ({ key: `${i}`, value: large.slice(1) }));
    expect(await code('t', 0, ...long)).toMatchObject({ errorCode: 4 });
    expect(await client.get('t', 0, 'k')).toEqual([null]);
    await expect(client.get('t', 7, 'k')).rejects.toThrow('2 table t has buckets');
    const scan = await client.scan({ table: 'nope', bucket: 0 });
    expect(scan.errorCode).toBe(1);
    const nameless = await client.put('t', { 0: [row] }, undefined, { writer: 'w'.repeat(257) });
    expect(nameless.buckets[0]).toMatchObject({ errorCode: 3 });
    expect(await client.get('t', 0, 'k')).toEqual([null]);
  });

  it('takes nothing of what is too much, or of what is nothing', async () => {
    const client = await connect(start(tempDir(), '--tables', 't:2'));
    const many = Array.from({ length: 100_001 }, (_, i) => ({ key: `${i}`, value: '' }));
    expect((await client.put('t', { 0: many })).buckets[0]).toMatchObject({
      errorCode: 4,
      errorMessage: expect.stringContaining('100000'),
    });
    expect((await client.put('t', {})).buckets).toEqual([]);
    // More than a message may have: the call fails, the connection goes on.
    const rows = Array.from({ length: 9 }, (_, i) => ({ key: `${i}`, value: 'v'.repeat(4e6) }));
    await expect(client.put('t', { 0: rows })).rejects.toMatchObject({ code: 8 });
    // A bucket for itself: what is wrong with one is not the other's.
    const mixed = await client.put('t', {
      0: [{ key: '', value: 'v' }],
      1: [{ key: 'k', value: 'v' }],
    });
    expect(mixed.buckets.map(({ errorCode }) => errorCode)).toEqual([3, 0]);
    expect((await client.scan({ table: 't', bucket: 0 })).rows).toEqual([]);
    expect(await client.get('t', 1, 'k')).toEqual(['v']);
  });

  it('takes nothing of a batch whose client is gone before it was sent', async () => {
    const server = start(tempDir(), '--tables', 't:1');
    const client = await connect(server);
    const { path, requestSerialize } = loadKvService()['PutKv'] as ServiceDefinition[string];
    const records = [0, 1].map((i) => ({ key: Buffer.from(`k${i}`), value: randomBytes(50_000) }));
    const message = requestSerialize({ table: 't', buckets: [{ bucket: 0, records }] });
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    for (const sent of [0, 3, 5, 50_020, message.length + 4]) {
      const session = http2Connect(`http://${await server.said('listening on ')}`);
      const call = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      call.on('error', () => {});
      const part = Buffer.concat([head, message]).subarray(0, sent);
      await new Promise((resolve) => call.write(part, resolve));
      session.destroy();
    }
    expect(await client.get('t', 0, 'k0', 'k1')).toEqual([null, null]);
    const row = { key: 'after', value: 'v' };
    expect((await client.put('t', { 0: [row] })).buckets[0]).toMatchObject({
      errorCode: 0,
      logEndOffset: 1,
    });
  });

  it('is not disturbed by a client that walks away', async () => {
    const client = await connect(start(tempDir(), '--tables', 't:1'));
    for (let i = 0; i < 50; i += 1) {
      const records = [{ key: Buffer.from(`k${i}`), value: randomBytes(10_000) }];
      const call = client.stub.PutKv(
        { table: 't', buckets: [{ bucket: 0, records }] },
        {},
        () => {},
      );
      if (i % 2 === 0) call.cancel();
      else setImmediate(() => call.cancel());
    }
    expect(
      (await client.put('t', { 0: [{ key: 'after', value: 'v' }] })).buckets[0]?.errorCode,
    ).toBe(0);
    expect(await client.get('t', 0, 'after')).toEqual(['v']);
  });

  it('refuses before the store stalls, a bucket at a time, and reports pressure before that', async () => {
    const args = ['--tables', 't:2', '--write-buffer-size', '65536', '--max-background-jobs', '1'];
    const client = await connect(start(tempDir(), ...args, '--l0-slowdown-trigger', '2'));
    const pressures = new Set<number>();
    let refused = 0;
    for (let i = 0; i < 3000 && refused < 5; i += 1) {
      const rows = Array.from({ length: 16 }, () => ({
        key: randomBytes(8).toString('hex'),
        value: randomBytes(2048).toString('hex'),
      }));
      const [hot, calm] = (await client.put('t', { 0: rows, 1: [{ key: `${i}`, value: 'v' }] }))
        .buckets;
      if (hot?.errorCode === 71) refused += 1;
      else expect(hot?.errorCode).toBe(0);
      if (hot?.pressure !== undefined) pressures.add(hot.pressure);
      expect(calm).toMatchObject({ errorCode: 0, logEndOffset: i + 1 });
      expect(calm?.pressure).toBeUndefined();
    }
    expect(refused).toBe(5);
    expect(pressures.size).toBeGreaterThan(0);
    for (const pressure of pressures) expect(pressure > 0 && pressure < 1).toBe(true);
  });
});

describe('a server that cannot start', () => {
  it.each([
    [['--port', '0'], 'kv:server: --dir is missing'],
    [['--dir', 'x'], '--port is missing'],
    [['--dir', 'x', '--port', 'y'], '--port must be an integer >= 0, got y'],
    [['--dir', 'x', '--port', '0', '--tables', 't'], '--tables must be NAME:BUCKETS,..., got t'],
    [['--dir', 'x', '--port', '0', '--nope'], "Unknown option '--nope'"],
  ])('%j: says %s', async (args, message) => {
    const server = new KvProcess(args);
    expect(await server.end()).toBe(2);
    expect(server.errors).toContain(message);
    expect(server.errors).toContain('usage: kv:server');
  });

  it('because the directory is in use, of another version, or asked for other buckets', async () => {
    const dir = tempDir();
    const first = start(dir, '--tables', 't:1');
    await first.said('listening on ');
    const second = start(dir);
    expect(await second.end()).toBe(1);
    expect(second.errors).toContain('DirectoryInUseError');
    expect(await first.end('SIGTERM')).toBe(0);

    const other = start(dir, '--tables', 't:2');
    expect(await other.end()).toBe(1);
    expect(other.errors).toContain('tables.t must be 1, as it was made with, got 2');

    const marker = join(dir, 'spillway-kv.json');
    writeFileSync(marker, readFileSync(marker, 'utf8').replace('"format": 1', '"format": 9'));
    const later = start(dir);
    expect(await later.end()).toBe(1);
    expect(later.errors).toContain('is of version 9, this is version 1');
  });

  it('because the port for its metrics is taken, or nobody elsewhere could find it', async () => {
    const first = start(tempDir(), '--tables', 't:1');
    const taken = (await first.said('listening on ')).split(':').at(-1) as string;
    const second = start(tempDir(), '--tables', 't:1', '--metrics-port', taken);
    expect(await second.end()).toBe(1);
    expect(second.errors).toContain('EADDRINUSE');
    const hidden = start(tempDir(), '--tables', 't:1', '--host', '0.0.0.0');
    expect(await hidden.end()).toBe(1);
    expect(hidden.errors).toContain('advertise must be given where host is 0.0.0.0');
    expect(await first.end('SIGTERM')).toBe(0);
  });

  it('because what had been acknowledged is damaged; a torn tail is cut and reported instead', async () => {
    const dir = tempDir();
    const first = start(dir, '--tables', 't:1');
    const client = await connect(first);
    for (const key of ['a', 'b', 'c']) await client.put('t', { 0: [{ key, value: `${key} 1` }] });
    await first.end('SIGKILL');
    const log = join(dir, 'log', readdirSync(join(dir, 'log'))[0] as string);
    const image = readFileSync(log);

    const flipped = Buffer.from(image);
    flipped[80] = (flipped[80] as number) ^ 1;
    writeFileSync(log, flipped);
    const refused = start(dir);
    expect(await refused.end()).toBe(1);
    expect(refused.errors).toContain('LogCorruptError');
    expect(readFileSync(log).equals(flipped)).toBe(true);

    writeFileSync(log, Buffer.concat([image, Buffer.from('torn')]));
    const cut = start(dir);
    const again = await connect(cut);
    expect(cut.errors).toContain('cut 4 bytes off');
    expect(await again.get('t', 0, 'a', 'b', 'c')).toEqual(['a 1', 'b 1', 'c 1']);
  });

  it('warns once when pressure would never be reported', async () => {
    const server = start(tempDir(), '--tables', 't:4', '--l0-slowdown-trigger', '20');
    await server.said('listening on ');
    expect(server.errors.match(/not below the engine's 20/g)).toHaveLength(1);
  });
});
