/** A frontend of the Postgres protocol for what psql cannot say. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Frame, MessageFrames } from '../../src/cli/sql/message-frames.js';
import { readAnswer } from '../../src/cli/sql/query-results.js';
import { int32, message, query } from '../../src/cli/sql/wire-messages.js';

export interface WireClient {
  readonly socket: Socket;
  readonly pid: number;
  readonly secret: number;
  readonly parameters: ReadonlyMap<string, string>;
  send(...messages: Uint8Array[]): void;
  /** Messages up to and with the next one of a type, or to the end of the connection. */
  until(type: string): Promise<Frame[]>;
  /** One simple query. */
  ask(sql: string): Promise<ReturnType<typeof readAnswer>>;
  close(): Promise<void>;
}

export async function connectRaw(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

export function startup(parameters: Readonly<Record<string, string>>, minor = 0): Buffer {
  const body = Buffer.from(`${Object.entries(parameters).flat().join('\0')}\0\0`);
  return Buffer.concat([int32(body.length + 8), int32(196_608 + minor), body]);
}

export function cancelRequest({ pid, secret }: Pick<WireClient, 'pid' | 'secret'>): Buffer {
  return Buffer.concat([int32(16), int32(80_877_102), int32(pid), int32(secret)]);
}

export async function connectWire(
  port: number,
  parameters: Readonly<Record<string, string>> = {},
  minor = 0,
): Promise<WireClient> {
  const socket = await connectRaw(port);
  const frames = new MessageFrames(2 ** 30);
  const queue: Frame[] = [];
  let wake = (): void => {};
  let ended = false;
  socket.on('data', (chunk: Buffer) => {
    queue.push(...frames.push(chunk));
    wake();
  });
  socket.on('close', () => {
    ended = true;
    wake();
  });
  const until = async (type: string): Promise<Frame[]> => {
    const seen: Frame[] = [];
    for (;;) {
      while (queue.length > 0) {
        const frame = queue.shift() as Frame;
        seen.push(frame);
        if (frame.type === type) return seen;
      }
      if (ended) return seen;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  socket.write(startup({ user: 'me', ...parameters }, minor));
  const greeting = await until('Z');
  const key = Buffer.from(greeting.find(({ type }) => type === 'K')?.body ?? Buffer.alloc(8));
  const told = greeting
    .filter(({ type }) => type === 'S')
    .map(({ body }) => Buffer.from(body).toString('utf8').split('\0') as [string, string]);
  return {
    socket,
    pid: key.readInt32BE(0),
    secret: key.readInt32BE(4),
    parameters: new Map(told.map(([name, value]) => [name, value])),
    send: (...messages) => void socket.write(Buffer.concat(messages)),
    until,
    ask: async (sql) => {
      socket.write(query(sql));
      return readAnswer((await until('Z')).map(({ bytes }) => bytes));
    },
    close: async () => {
      if (ended) return;
      socket.end(message('X'));
      await once(socket, 'close');
    },
  };
}
