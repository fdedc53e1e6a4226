import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  type Client,
  type ClientUnaryCall,
  credentials,
  makeGenericClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import {
  type DescribeResponse,
  type GetKvResponse,
  loadKvService,
  type PutKvResponse,
  type ScanKvResponse,
} from '../../src/adapters/kv-protocol.js';

const main = fileURLToPath(new URL('../../dist/adapters/kv-server-main.js', import.meta.url));

/** A real server process on the built package. */
export class KvProcess {
  readonly child: ChildProcess;
  output = '';
  errors = '';

  constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.on('data', (bytes) => {
      this.output += String(bytes);
    });
    this.child.stderr?.on('data', (bytes) => {
      this.errors += String(bytes);
    });
  }

  /** What a line of the output says after `head`, as soon as it is there. */
  async said(head: string): Promise<string> {
    for (;;) {
      const line = this.output.split('\n').find((one) => one.startsWith(head));
      if (line !== undefined && this.output.includes(`${line}\n`)) return line.slice(head.length);
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`ended with ${this.child.exitCode}: ${this.errors}`);
      }
      await new Promise<void>((resolve) => {
        this.child.stdout?.once('data', () => resolve());
        this.child.once('exit', () => resolve());
      });
    }
  }

  async end(signal?: NodeJS.Signals): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        resolve(this.child.exitCode);
      } else this.child.once('close', (code) => resolve(code));
    });
    if (signal !== undefined) this.child.kill(signal);
    return ended;
  }
}

type Done<Response> = (error: ServiceError | null, response: Response) => void;
type Method<Response> = (request: object, options: object, done: Done<Response>) => ClientUnaryCall;

type Stub = Client & {
  readonly PutKv: Method<PutKvResponse>;
  readonly GetKv: Method<GetKvResponse>;
  readonly ScanKv: Method<ScanKvResponse>;
  readonly Describe: Method<DescribeResponse>;
};

export interface Row {
  readonly key: string;
  readonly value: string | null;
}

export class KvTestClient {
  readonly stub: Stub;

  constructor(target: string) {
    const Kv = makeGenericClientConstructor(loadKvService(), 'Kv');
    this.stub = new Kv(target, credentials.createInsecure()) as unknown as Stub;
  }

  put(
    table: string,
    buckets: Readonly<Record<number, readonly Row[]>>,
    completion = 'COMPLETION_LOG',
    more: object = {},
  ): Promise<PutKvResponse> {
    const request = {
      ...more,
      table,
      completion,
      buckets: Object.entries(buckets).map(([bucket, rows]) => ({
        bucket: Number(bucket),
        records: rows.map(({ key, value }) => ({
          key: Buffer.from(key),
          ...(value === null ? {} : { value: Buffer.from(value) }),
        })),
      })),
    };
    return new Promise((resolve, reject) => {
      this.stub.PutKv(request, {}, settle(resolve, reject));
    });
  }

  async get(table: string, bucket: number, ...keys: string[]): Promise<(string | null)[]> {
    const request = { table, bucket, keys: keys.map((key) => Buffer.from(key)) };
    const response = await new Promise<GetKvResponse>((resolve, reject) => {
      this.stub.GetKv(request, {}, settle(resolve, reject));
    });
    if (response.errorCode !== 0) throw new Error(`${response.errorCode} ${response.errorMessage}`);
    return response.values.map(({ value }) => (value == null ? null : String(value)));
  }

  scan(request: object): Promise<ScanKvResponse> {
    return new Promise((resolve, reject) => {
      this.stub.ScanKv(request, {}, settle(resolve, reject));
    });
  }

  describe(...tables: string[]): Promise<DescribeResponse> {
    return new Promise((resolve, reject) => {
      this.stub.Describe({ tables }, {}, settle(resolve, reject));
    });
  }

  close(): void {
    this.stub.close();
  }
}

function settle<Response>(
  resolve: (response: Response) => void,
  reject: (error: Error) => void,
): Done<Response> {
  return (error, response) => {
    if (error === null) resolve(response);
    else reject(error);
  };
}
