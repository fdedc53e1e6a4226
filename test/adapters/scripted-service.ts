import {
  type Client,
  type ClientOptions,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';

/** What the server does with one call. */
export type Step =
  | { readonly kind: 'reply'; readonly value?: unknown; readonly afterMs?: number }
  | {
      readonly kind: 'fail';
      readonly code: status;
      readonly trailers?: Readonly<Record<string, string | Buffer>>;
    }
  | { readonly kind: 'hang' };

const json = {
  requestSerialize: (value: unknown) => Buffer.from(JSON.stringify(value)),
  requestDeserialize: (bytes: Buffer) => JSON.parse(bytes.toString()) as unknown,
  responseSerialize: (value: unknown) => Buffer.from(JSON.stringify(value)),
  responseDeserialize: (bytes: Buffer) => JSON.parse(bytes.toString()) as unknown,
};
const METHODS: ServiceDefinition = {
  Read: { path: '/test.Store/Read', requestStream: false, responseStream: false, ...json },
  List: { path: '/test.Store/List', requestStream: false, responseStream: true, ...json },
};
const Generic = makeGenericClientConstructor(METHODS, 'Store');

export interface SeenCall {
  readonly atMs: number;
  readonly metadata: Metadata;
  readonly request: unknown;
  cancelled: boolean;
}

export type StoreClient = Client & Record<'Read' | 'List', (...args: unknown[]) => StoreCall>;

export interface StoreCall extends NodeJS.EventEmitter {
  cancel(): void;
}

export interface ScriptedService {
  /** Done one after the other; then every call gets a reply. */
  readonly script: Step[];
  readonly seen: SeenCall[];
  readonly address: string;
  connect(options: ClientOptions): StoreClient;
  stop(): void;
}

/** A real server that does what the test says. */
export async function startScriptedService(): Promise<ScriptedService> {
  const script: Step[] = [];
  const seen: SeenCall[] = [];
  const server = new Server();
  const next = (call: { metadata: Metadata; request: unknown }): [Step, SeenCall] => {
    const { metadata, request } = call;
    const one = { atMs: performance.now(), metadata, request, cancelled: false };
    seen.push(one);
    return [script.shift() ?? { kind: 'reply', value: request }, one];
  };
  server.addService(METHODS, {
    Read(call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>) {
      const [step, one] = next(call);
      call.on('cancelled', () => {
        one.cancelled = true;
      });
      if (step.kind === 'reply') {
        const headers = new Metadata();
        headers.set('attempt', String(seen.length));
        call.sendMetadata(headers);
        setTimeout(() => done(null, step.value ?? call.request), step.afterMs ?? 0);
      } else if (step.kind === 'fail') {
        const metadata = new Metadata();
        for (const [key, value] of Object.entries(step.trailers ?? {})) metadata.set(key, value);
        done({ code: step.code, details: status[step.code], metadata });
      }
    },
    List(call: ServerUnaryCall<unknown, unknown> & { end(): void; write(row: unknown): void }) {
      const [step] = next(call);
      if (step.kind === 'fail') {
        call.emit('error', { code: step.code, details: status[step.code] });
        return;
      }
      call.write('row');
      if (step.kind !== 'hang') call.end();
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const address = `127.0.0.1:${port}`;
  return {
    script,
    seen,
    address,
    connect: (options) =>
      new Generic(address, credentials.createInsecure(), options) as unknown as StoreClient,
    stop: () => server.forceShutdown(),
  };
}
