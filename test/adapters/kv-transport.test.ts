import * as grpc from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/actors/kv/writer/writer-ports.js';
import { loadKvService } from '../../src/adapters/kv-protocol.js';
import { type Grpc, KvTransport } from '../../src/adapters/kv-transport.js';

/** Clients that answer everything at once with an empty object, and note to whom they have spoken. */
function played() {
  const asked: string[] = [];
  const closed: string[] = [];
  class Client {
    readonly #address: string;

    constructor(address: string) {
      this.#address = address;
    }

    makeUnaryRequest(...args: unknown[]): object {
      asked.push(this.#address);
      const done = args.at(-1) as (error: null, response: object) => void;
      queueMicrotask(() => done(null, {}));
      return { cancel: () => undefined };
    }

    close(): void {
      closed.push(this.#address);
    }
  }
  const transport = new KvTransport({
    grpc: { ...grpc, Client } as unknown as Grpc,
    service: loadKvService(),
    targets: ['a:1', 'b:1'],
    credentials: grpc.credentials.createInsecure(),
    writer: 'w',
    minRetryMs: 50,
    maxRetryMs: 2000,
  });
  const ask = (): Promise<Exchange> => new Promise((done) => transport.describe(100, done));
  const put = (leader: string): Promise<Exchange> => {
    const records = [{ key: new Uint8Array(1), value: null }];
    const attempt = { leader, table: 't', bucket: 0, records, number: 1, timeoutMs: 100 };
    return new Promise((done) => transport.put({ ...attempt, completion: 'log' }, done));
  };
  return { transport, asked, closed, ask, put };
}

describe('the way to the servers', () => {
  it('asks another server for metadata each time, the given ones and those that lead', async () => {
    const { transport, asked, ask } = played();
    transport.retain(new Set(['c:1', 'a:1']));
    for (let i = 0; i < 4; i += 1) await ask();
    expect(asked).toEqual(['a:1', 'b:1', 'c:1', 'a:1']);
  });

  it('takes a leader without a name for the first server that was given', async () => {
    const { transport, asked, ask, put } = played();
    transport.retain(new Set(['']));
    expect(await put('')).toEqual({ kind: 'response', response: {} });
    for (let i = 0; i < 3; i += 1) await ask();
    expect(asked).toEqual(['a:1', 'a:1', 'b:1', 'a:1']);
  });

  it('lets go of servers that lead nothing any more, and of none that was given', async () => {
    const { transport, closed, ask, put } = played();
    await ask();
    await put('c:1');
    await put('d:1');
    transport.retain(new Set(['d:1']));
    expect(closed).toEqual(['c:1']);
    transport.close();
    expect(closed).toEqual(['c:1', 'a:1', 'd:1']);
  });
});
