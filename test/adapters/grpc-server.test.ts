import {
  type Client,
  credentials,
  type Metadata,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
  status,
  Metadata as TrailerOf,
} from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGrpcInterceptor } from '../../src/adapters/grpc.js';
import {
  createGrpcServerPressure,
  type GrpcServerPressure,
  type GrpcServerPressureOptions,
} from '../../src/adapters/grpc-server.js';
import { FakeGate } from './fake-gate.js';

const text = {
  requestSerialize: (value: string) => Buffer.from(value),
  requestDeserialize: String,
  responseSerialize: (value: string) => Buffer.from(value),
  responseDeserialize: String,
};
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/test.Shop/${name}`,
  requestStream,
  responseStream,
  ...text,
});
const METHODS = {
  Buy: method('Buy', false, false),
  Send: method('Send', true, false),
  List: method('List', false, true),
  Talk: method('Talk', true, true),
};
const Generic = makeGenericClientConstructor(METHODS, 'Shop');

interface Call extends NodeJS.EventEmitter {
  write(row: string): boolean;
  end(): void;
}
type ShopClient = Client & Record<keyof typeof METHODS, (...args: unknown[]) => Call>;

let server: Server | undefined;
let client: ShopClient;
let helper: GrpcServerPressure;
let pressure: number;
let handled: string[];
const OWN_TRAILER = new TrailerOf();
OWN_TRAILER.set('own', 'yes');

beforeEach(() => {
  pressure = 0;
  handled = [];
});
afterEach(() => {
  client?.close();
  server?.forceShutdown();
  helper?.close();
});

async function start(
  options: Partial<GrpcServerPressureOptions> = {},
  clientOptions: object = {},
): Promise<void> {
  helper = createGrpcServerPressure({ source: { pressure: () => pressure }, ...options });
  server = new Server({ interceptors: [helper.interceptor] });
  server.addService(METHODS, {
    Buy(call: ServerUnaryCall<string, string>, done: sendUnaryData<string>) {
      handled.push('Buy');
      if (call.request === 'broken') done({ code: status.INTERNAL, metadata: OWN_TRAILER });
      else done(null, call.request, OWN_TRAILER);
    },
    Send(call: ServerReadableStream<string, string>, done: sendUnaryData<string>) {
      handled.push('Send');
      call.on('data', () => undefined);
      call.on('end', () => done(null, 'sent'));
    },
    List(call: ServerWritableStream<string, string>) {
      handled.push('List');
      call.write('row');
      call.end();
    },
    Talk(call: ServerDuplexStream<string, string>) {
      handled.push('Talk');
      call.on('data', (row: string) => call.write(row));
      call.on('end', () => call.end());
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server?.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  client = new Generic(
    `127.0.0.1:${port}`,
    credentials.createInsecure(),
    clientOptions,
  ) as unknown as ShopClient;
}

interface End {
  readonly code: number;
  readonly metadata: Metadata;
}

/** What a call of any kind ends with. */
function endOf(name: keyof typeof METHODS, request = 'x'): Promise<End> {
  return new Promise((resolve) => {
    const { requestStream, responseStream } = METHODS[name];
    const done = (): void => undefined;
    const call = client[name](
      ...(requestStream ? [] : [request]),
      ...(responseStream ? [] : [done]),
    );
    call.on('status', (end: End) => resolve(end));
    call.on('error', () => undefined);
    call.on('data', () => undefined);
    if (requestStream) {
      call.write(request);
      call.end();
    }
  });
}

const KINDS = Object.keys(METHODS) as (keyof typeof METHODS)[];

describe('the gRPC server interceptor', () => {
  it.each(KINDS)(
    'says nothing without a pressure, and how high it is in the trailer: %s',
    async (name) => {
      await start();
      expect((await endOf(name)).metadata.get('spillway-pressure')).toEqual([]);
      pressure = 0.5;
      const { code, metadata } = await endOf(name);
      expect([code, metadata.get('spillway-pressure')]).toEqual([status.OK, ['0.5']]);
      expect(handled).toEqual([name, name]);
    },
  );

  it.each(KINDS)('refuses at the hard limit, before the handler: %s', async (name) => {
    await start({ retryAfterMs: 250 });
    pressure = 1;
    const { code, metadata } = await endOf(name);
    expect(code).toBe(status.RESOURCE_EXHAUSTED);
    expect(metadata.get('grpc-retry-pushback-ms')).toEqual(['250']);
    expect(metadata.get('spillway-pressure')).toEqual(['1']);
    expect(handled).toEqual([]);
  });

  it('adds to the trailers of the application, and never to its own objects', async () => {
    await start();
    pressure = 0.5;
    for (const request of ['fine', 'broken']) {
      const { metadata } = await endOf('Buy', request);
      expect([metadata.get('own'), metadata.get('spillway-pressure')]).toEqual([['yes'], ['0.5']]);
    }
    expect(OWN_TRAILER.get('spillway-pressure')).toEqual([]);
  });

  it('lets exempt calls through, and tells buckets apart', async () => {
    const seen: (string | undefined)[] = [];
    await start({
      exempt: ({ path }) => path.endsWith('/List'),
      bucket: ({ path, metadata }) => `${path} ${metadata.get('user-agent').length}`,
      source: {
        pressure(bucket) {
          seen.push(bucket);
          return 1;
        },
      },
    });
    const list = await endOf('List');
    expect([list.code, list.metadata.get('spillway-pressure')]).toEqual([status.OK, []]);
    expect((await endOf('Buy')).code).toBe(status.RESOURCE_EXHAUSTED);
    expect(new Set(seen)).toEqual(new Set(['/test.Shop/Buy 1']));
  });

  it('serves although its source is broken', async () => {
    const faults: unknown[] = [];
    await start({
      source: {
        pressure() {
          throw new Error('no queue');
        },
      },
      onFault: (error) => faults.push(error),
    });
    for (let i = 0; i < 3; i += 1) expect((await endOf('Buy')).code).toBe(status.OK);
    expect(faults).toHaveLength(1);
  });

  it('lets a source measure until it is closed, and refuses bad options', async () => {
    const log: string[] = [];
    const source = {
      pressure: () => 0,
      start() {
        log.push('start');
        return () => log.push('stop');
      },
    };
    const made = createGrpcServerPressure({ source });
    made.close();
    made.close();
    expect(log).toEqual(['start', 'stop']);
    expect(() => createGrpcServerPressure({ source, hardLimit: -1 })).toThrow(RangeError);
  });
});

describe('the client interceptor', () => {
  it.each(KINDS)('takes the pressure of the trailer for the verdict: %s', async (name) => {
    const gate = new FakeGate();
    await start({}, { interceptors: [createGrpcInterceptor({ gate, bucket: 'shard-1' })] });
    pressure = 0.25;
    await endOf(name);
    expect(gate.asked).toMatchObject([{ bucket: 'shard-1' }]);
    expect(gate.verdicts).toEqual([{ kind: 'success', pressure: 0.25 }]);
  });

  it('takes a refusal for BUSY with pushback and pressure', async () => {
    const gate = new FakeGate();
    await start({}, { interceptors: [createGrpcInterceptor({ gate, bucket: 'shard-1' })] });
    pressure = 1;
    const error = await new Promise<ServiceError | null>(
      (resolve) => void client.Buy('x', resolve),
    );
    expect(error).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(gate.verdicts).toEqual([{ kind: 'busy', retryAfterMs: 1000, pressure: 1 }]);
  });
});
