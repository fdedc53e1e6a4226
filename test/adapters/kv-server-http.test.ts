import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type KvServerHttp, serveKvHttp } from '../../src/adapters/kv-server-http.js';

let isBroken = false;
let served: KvServerHttp;
beforeEach(async () => {
  isBroken = false;
  const stats = () => {
    if (isBroken) throw new Error('the store is closed');
    return { tables: [], logBytes: 0 };
  };
  const store = { stats, stalledMs: async () => ({}) };
  served = await serveKvHttp({ store, name: 'orders', host: '127.0.0.1', port: 0 });
});
afterEach(() => served.close());

/** The status that `target` gets, whatever it is. */
async function statusOf(target: string): Promise<number> {
  const socket = connect(served.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (part) => {
    answer += part;
  });
  socket.write(`GET ${target} HTTP/1.1\r\nhost: kv\r\nconnection: close\r\n\r\n`);
  await once(socket, 'close');
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
}

it.each(['/metrics', '/healthz', '/state', '/state?maxPairs=5'])('serves %s', async (target) => {
  expect(await statusOf(target)).toBe(200);
});

it.each(['//', '///', '//[', '/\\\\[', 'http://[/state', '*', '/%', '/state/', '/../state'])(
  'outlives a request for %s',
  async (target) => {
    expect([400, 404]).toContain(await statusOf(target));
    expect(await statusOf('/healthz')).toBe(200);
  },
);

it('outlives a store that cannot be read', async () => {
  isBroken = true;
  expect(await statusOf('/state')).toBe(500);
  expect(await statusOf('/metrics')).toBe(500);
  expect(await statusOf('/healthz')).toBe(200);
});
