import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { until } from './until.js';

export interface Stream {
  readonly status: number;
  text(): string;
  readonly isOver: boolean;
  /** Takes nothing from now on. */
  stall(): void;
  resume(): void;
  /** Goes away. */
  cut(): void;
}

/** Opens `/events`. Node's own client: fetch shares its connections, and does not stop reading. */
export async function openStream(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Stream> {
  const asked = request(`${url}/events`, { headers, agent: false });
  let text = '';
  let isOver = false;
  asked.on('error', () => {
    isOver = true;
  });
  asked.end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve);
    asked.once('error', reject);
  });
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  for (const end of ['end', 'close', 'error']) {
    response.on(end, () => {
      isOver = true;
    });
  }
  return {
    status: response.statusCode ?? 0,
    text: () => text,
    get isOver() {
      return isOver;
    },
    stall: () => void response.pause(),
    resume: () => void response.resume(),
    cut: () => void asked.destroy(),
  };
}

/** A connection that says just what it is told to. */
export interface RawClient {
  readonly socket: Socket;
  text(): string;
  /** Resolves with all that came, once the other end has closed it. */
  readonly closed: Promise<string>;
}

export async function connectRaw(port: number, host = '127.0.0.1'): Promise<RawClient> {
  const socket = connect(port, host);
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  // A reset is an end, too.
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  await until('it is connected', () => socket.readyState === 'open');
  return { socket, text: () => text, closed };
}

/** What `open` gives, and the other end of its connection, which a server of this process has accepted. */
export async function accepted<Client>(open: () => Promise<Client>): Promise<[Client, Socket]> {
  const sockets: Socket[] = [];
  const note = (message: unknown): void => {
    sockets.push((message as { socket: Socket }).socket);
  };
  subscribe('net.server.socket', note);
  try {
    const client = await open();
    await until('it is accepted', () => sockets.length > 0);
    return [client, sockets[0] as Socket];
  } finally {
    unsubscribe('net.server.socket', note);
  }
}
