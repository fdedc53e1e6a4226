/** Runs in an engine thread: every call of the engine, property reads included, is made here. */
import { parentPort, workerData } from 'node:worker_threads';
import type { EnginePort } from '../../actors/kv/engine-port.js';
import { encodeError } from '../error-codec.js';
import type { EngineCall, EngineFactory, EngineOpened, EngineReply } from './engine-messages.js';
import { decodeRecords, encodeRecords } from './record-codec.js';

const port = parentPort;
if (port === null) throw new Error('engine-entry runs in a worker thread');

const factory = workerData as EngineFactory;
const engines = new Map<number, EnginePort>();

type Answer = { readonly value: unknown; readonly transfer?: ArrayBuffer[] };

port.on('message', ({ id, engine, request }: EngineCall) => {
  answer(engine, request).then(
    ({ value, transfer = [] }) => {
      port.postMessage({ id, ok: true, value } satisfies EngineReply, transfer);
    },
    (error: unknown) => {
      port.postMessage({ id, ok: false, error: encodeError(error) } satisfies EngineReply);
    },
  );
});

async function answer(number: number, request: EngineCall['request']): Promise<Answer> {
  if (request.kind === 'open') return { value: await open(number, request.options) };
  const engine = engines.get(number);
  if (engine === undefined) throw new Error(`engine ${number} is not open`);
  switch (request.kind) {
    case 'sample':
      return { value: await engine.sample() };
    case 'stalledMs':
      return { value: await engine.stalledMs() };
    case 'write': {
      const records = decodeRecords(request.bytes);
      return { value: await engine.write({ records, flushedUpTo: request.flushedUpTo }) };
    }
    case 'get': {
      const keys = decodeRecords(request.bytes).map(({ key }) => key);
      const values = await engine.get(keys);
      return transferred(values.map((value) => ({ key: new Uint8Array(0), value })));
    }
    case 'iterate': {
      const { start, end, limit } = request;
      return transferred(
        await engine.iterate({ start, limit, ...(end === undefined ? {} : { end }) }),
      );
    }
    case 'checkpoint':
      return { value: await engine.checkpoint() };
    case 'close':
      engines.delete(number);
      return { value: await engine.close() };
  }
}

async function open(number: number, options: unknown): Promise<EngineOpened> {
  const module = (await import(factory.module)) as Record<string, unknown>;
  const create = module[factory.exportName] as (options: unknown) => Promise<EnginePort>;
  const engine = await create(options);
  engines.set(number, engine);
  const { triggers, flushedUpTo } = engine;
  return { triggers, flushedUpTo, sample: await engine.sample() };
}

function transferred(records: Parameters<typeof encodeRecords>[0]): Answer {
  const value = encodeRecords(records);
  return { value, transfer: [value.buffer] };
}
