import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { openKvStore } from '../../src/adapters/kv.js';
import type { createKvPrometheusMetrics } from '../../src/adapters/kv-prometheus.js';
import type { startKvServer } from '../../src/adapters/kv-server.js';
import { tempDirs } from '../adapters/temp-dir.js';
import { KvTestClient } from './kv-process.js';
import { traceBinding } from './traced-binding.mjs';

const tempDir = tempDirs();
const load = async <Module>(name: string): Promise<Module> =>
  (await import(new URL(`../../dist/adapters/${name}.js`, import.meta.url).href)) as Module;
const kv = await load<{ openKvStore: typeof openKvStore }>('kv');
const served = await load<{ startKvServer: typeof startKvServer }>('kv-server');
const metrics = await load<{ createKvPrometheusMetrics: typeof createKvPrometheusMetrics }>(
  'kv-prometheus',
);

it('no call into the engine is made on the thread that serves RPCs, property reads included', async () => {
  const dir = tempDir();
  const trace = join(dir, 'trace');
  writeFileSync(trace, '');
  // On this thread, too, where the RPCs are served.
  traceBinding(trace);
  const store = await kv.openKvStore({
    dir: join(dir, 'store'),
    tables: { t: 3 },
    engineThreads: 2,
    // Small, so that checkpoints happen, too.
    logSegmentBytes: 4096,
    logCheckpointBytes: 4096,
    engine: {
      module: new URL('./traced-binding.mjs', import.meta.url).href,
      exportName: 'openTracedEngine',
    },
    engineOptions: { trace },
  });
  const server = await served.startKvServer({ store });
  const client = new KvTestClient(`127.0.0.1:${server.port}`);
  const register = new Registry();
  metrics.createKvPrometheusMetrics(store, { register });
  for (let i = 0; i < 20; i += 1) {
    const rows = [
      { key: `a${i}`, value: 'v'.repeat(1000) },
      { key: `a${i - 5}`, value: null },
    ];
    const response = await client.put('t', { 0: rows, 1: rows, 2: rows }, 'COMPLETION_FLUSH');
    expect(response.buckets.map(({ errorCode }) => errorCode)).toEqual([0, 0, 0]);
  }
  expect(await client.get('t', 2, 'a19', 'a3')).toEqual(['v'.repeat(1000), null]);
  expect((await client.scan({ table: 't', bucket: 1 })).rows).toHaveLength(5);
  await client.describe();
  expect(await store.status('t', 0)).toMatchObject({ mode: 'open' });
  expect(store.stats().tables[0]?.flushedRecords).toBe(120);
  expect(await register.metrics()).toContain('spillway_kv_engine_stall_seconds_total{table="t"} 0');
  client.close();
  await server.close();
  await store.close();

  const calls = readFileSync(trace, 'utf8').trimEnd().split('\n');
  const names = new Set(calls.map((line) => line.split(' ')[1]));
  // All kinds of calls were seen: opening, writing, reading, iterating, properties.
  for (const kind of [/open/i, /write/i, /read/i, /iterator/i, /property/i, /flush/i, /close/i]) {
    expect([...names].some((name) => kind.test(name ?? ''))).toBe(true);
  }
  const threads = new Set(calls.map((line) => line.split(' ')[0]));
  expect(threads.has('main')).toBe(false);
  expect(threads).toHaveLength(2);
});

it('a call that is made on this thread would be seen', async () => {
  const dir = tempDir();
  const trace = join(dir, 'trace');
  writeFileSync(trace, '');
  traceBinding(trace);
  const { openRocksDbEngine } =
    await load<typeof import('../../src/adapters/rocksdb.js')>('rocksdb');
  const engine = await openRocksDbEngine({ dir: join(dir, 'store') });
  await engine.sample();
  await engine.close();
  expect(readFileSync(trace, 'utf8')).toMatch(/^main .*[pP]roperty/m);
});
