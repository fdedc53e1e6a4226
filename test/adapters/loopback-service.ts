import {
  type Client,
  type ClientOptions,
  credentials,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';

const json = {
  requestSerialize: (value: unknown) => Buffer.from(JSON.stringify(value)),
  requestDeserialize: (bytes: Buffer) => JSON.parse(bytes.toString()) as unknown,
  responseSerialize: (value: unknown) => Buffer.from(JSON.stringify(value)),
  responseDeserialize: (bytes: Buffer) => JSON.parse(bytes.toString()) as unknown,
};

function method(name: string, requestStream: boolean, responseStream: boolean) {
  return { path: `/test.Meta/${name}`, requestStream, responseStream, ...json };
}

const METHODS: ServiceDefinition = {
  CommitRowset: method('CommitRowset', false, false),
  SendRows: method('SendRows', true, false),
  ListRows: method('ListRows', false, true),
  Talk: method('Talk', true, true),
  Hang: method('Hang', false, false),
};

interface Request {
  readonly failWith?: status;
}

/** A real server that answers with what it got; `failWith` in a request ends the call with that code. */
export async function startService(): Promise<LoopbackService> {
  const seen: string[] = [];
  const server = new Server();
  server.addService(METHODS, {
    CommitRowset(call: ServerUnaryCall<Request, unknown>, done: sendUnaryData<unknown>) {
      seen.push('CommitRowset');
      const { failWith } = call.request;
      if (failWith === undefined) done(null, call.request);
      else done({ code: failWith, details: `asked for ${status[failWith]}` });
    },
    Hang(call: ServerUnaryCall<unknown, unknown>) {
      seen.push('Hang');
      call.on('cancelled', () => seen.push('Hang cancelled'));
    },
    SendRows(call: ServerReadableStream<unknown, unknown>, done: sendUnaryData<unknown>) {
      seen.push('SendRows');
      const rows: unknown[] = [];
      call.on('data', (row: unknown) => rows.push(row));
      call.on('end', () => done(null, rows));
    },
    ListRows(call: ServerWritableStream<{ rows: unknown[] }, unknown>) {
      seen.push('ListRows');
      for (const row of call.request.rows) call.write(row);
      call.end();
    },
    Talk(call: ServerDuplexStream<unknown, unknown>) {
      seen.push('Talk');
      call.on('data', (row: unknown) => call.write({ echo: row }));
      call.on('end', () => call.end());
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    seen,
    connect: (options) =>
      new Generic(
        `127.0.0.1:${port}`,
        credentials.createInsecure(),
        options,
      ) as unknown as MetaClient,
    stop: () => server.forceShutdown(),
  };
}

export interface LoopbackService {
  /** Methods that the server was asked for, in order. */
  readonly seen: string[];
  connect(options: ClientOptions): MetaClient;
  stop(): void;
}

const Generic = makeGenericClientConstructor(METHODS, 'Meta');

type Methods = 'CommitRowset' | 'SendRows' | 'ListRows' | 'Talk' | 'Hang';
export type MetaClient = Client & Record<Methods, (...args: unknown[]) => MetaCall>;

export interface MetaCall extends NodeJS.EventEmitter {
  cancel(): void;
  write(row: unknown): boolean;
  end(): void;
}

export interface Ended {
  readonly error: (ServiceError & { readonly cause?: unknown }) | null;
  readonly reply: unknown;
}

/** A unary call, or a client stream's reply, as a promise that always fulfils. */
export function ended(start: (done: (...args: unknown[]) => void) => void): Promise<Ended> {
  return new Promise((resolve) => {
    start((error, reply) => resolve({ error: error as Ended['error'], reply }));
  });
}
