import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { loadKvService, type PutKvRequest } from '../../src/adapters/kv-protocol.js';

/** An answer as an object, or as the bytes that are sent for one; a status; or none at all. */
export type KvStep =
  | { readonly reply: object }
  | { readonly bytes: Buffer }
  | { readonly status: number }
  | 'hang';

export interface ScriptedKv {
  readonly address: string;
  readonly puts: PutKvRequest[];
  /** Whom it names as the leader of all buckets; itself at first. */
  leader: string;
  stop(): Promise<void>;
}

/** A real gRPC server of table `t` with 4 buckets that answers puts as it is told to. */
export async function startScriptedKv(
  answer: (request: PutKvRequest, turn: number) => KvStep,
): Promise<ScriptedKv> {
  const service = loadKvService();
  const put = service['PutKv'] as ServiceDefinition[string];
  const server = new Server();
  const puts: PutKvRequest[] = [];
  const raw: ServiceDefinition = {
    ...service,
    PutKv: {
      ...put,
      responseSerialize: (given: unknown) =>
        Buffer.isBuffer(given) ? given : put.responseSerialize(given),
    },
  };
  server.addService(raw, {
    PutKv: (call: ServerUnaryCall<PutKvRequest, unknown>, done: sendUnaryData<unknown>) => {
      puts.push(call.request);
      const step = answer(call.request, puts.length - 1);
      if (step === 'hang') return;
      if ('status' in step) done({ code: step.status, details: 'as told' });
      else done(null, 'bytes' in step ? step.bytes : step.reply);
    },
    Describe: (_call: unknown, done: sendUnaryData<unknown>) => {
      const buckets = [0, 1, 2, 3].map((bucket) => ({ bucket, leader: scripted.leader }));
      done(null, { tables: [{ name: 't', buckets }] });
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  const address = `127.0.0.1:${port}`;
  const scripted: ScriptedKv = {
    address,
    puts,
    leader: address,
    stop: () =>
      new Promise((resolve) => {
        server.forceShutdown();
        setImmediate(resolve);
      }),
  };
  return scripted;
}

/** What a server answers that has taken the batch. */
export function taken({ buckets }: PutKvRequest, more: object = {}): KvStep {
  const bucket = buckets[0]?.bucket ?? 0;
  return { reply: { buckets: [{ bucket, errorCode: 0, logEndOffset: 1, ...more }] } };
}
