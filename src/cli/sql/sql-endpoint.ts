/** A Postgres server for stock clients: each has an engine of its own, and all see the same backends. */
import { randomInt, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import type { Engine } from './engine.js';
import { EngineShelf } from './engine-shelf.js';
import type { FreshRows } from './fresh-rows.js';
import { logIn } from './log-in.js';
import { FrameError } from './message-frames.js';
import { readAnswer } from './query-results.js';
import type { ScramSecret } from './scram.js';
import { type SessionLimits, SqlSession } from './sql-session.js';
import { readStartupPacket, type StartupPacket, settingsOf } from './startup-packet.js';
import {
  errorResponse,
  int32,
  message,
  parameterStatus,
  parametrized,
  query,
  readyForQuery,
} from './wire-messages.js';

export interface SqlEndpointOptions {
  readonly host: string;
  /** 0: one that is free. */
  readonly port: number;
  readonly rows: FreshRows;
  /** undefined: everybody is let in. */
  readonly secret: ScramSecret | undefined;
  readonly maxClients: number;
  readonly limits: SessionLimits;
}

type Startup = Extract<StartupPacket, { kind: 'startup' }>;

/** A client that was cut before it was let in. */
interface Client {
  readonly secret: number;
  session: SqlSession | undefined;
}

/** For what comes before a session, ms. */
const LOG_IN_MS = 15_000;

/** Of TLS and of GSSAPI, one each: who asks again only keeps us busy. */
const MOST_REFUSALS = 2;

/** What a server tells of itself, and what drivers look for. */
const REPORTED = [
  'server_version',
  'server_encoding',
  'client_encoding',
  'application_name',
  'DateStyle',
  'IntervalStyle',
  'TimeZone',
  'integer_datetimes',
  'standard_conforming_strings',
  'default_transaction_read_only',
];

export class SqlEndpoint {
  readonly #options: SqlEndpointOptions;
  readonly #shelf = new EngineShelf();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Map<number, Client>();
  #lastPid = 0;

  constructor(options: SqlEndpointOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#meet(socket));
  }

  /** Resolves to the port, when clients are served without delay. @throws CommandError, EngineGone, and what listening throws */
  async listen(): Promise<number> {
    await this.#shelf.ready();
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await this.#shelf.close();
    if (this.#server.listening) await closed;
  }

  #meet(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    const timer = setTimeout(() => socket.destroy(), LOG_IN_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
    // A client that goes away in the middle is its own affair.
    socket.on('error', () => socket.destroy());
    let held = Buffer.alloc(0);
    let refusals = 0;
    const onData = (chunk: Buffer): void => {
      held = Buffer.concat([held, chunk]);
      try {
        for (
          let read = readStartupPacket(held);
          read !== undefined;
          read = readStartupPacket(held)
        ) {
          held = held.subarray(read.length);
          const { packet } = read;
          if (packet.kind === 'encrypt') {
            refusals += 1;
            if (refusals > MOST_REFUSALS) throw new FrameError('there is no encryption');
            // No, in one byte: the client goes on without, or leaves.
            socket.write('N');
            continue;
          }
          socket.off('data', onData);
          if (packet.kind === 'cancel') {
            this.#cancel(packet.pid, packet.secret);
            socket.end();
            return;
          }
          socket.pause();
          if (held.length > 0) socket.unshift(held);
          void this.#serve(socket, packet, timer);
          return;
        }
      } catch (error) {
        if (!(error instanceof FrameError)) throw error;
        // What else it sends is not even looked at.
        socket.off('data', onData).resume();
        refuse(socket, '08P01', error.message);
      }
    };
    socket.on('data', onData);
  }

  #cancel(pid: number, secret: number): void {
    const client = this.#clients.get(pid);
    if (client !== undefined && timingSafeEqual(int32(client.secret), int32(secret))) {
      client.session?.cancel();
    }
  }

  async #serve(socket: Socket, startup: Startup, timer: NodeJS.Timeout): Promise<void> {
    const { maxClients, secret } = this.#options;
    if (startup.parameters.has('replication')) {
      refuse(socket, '0A000', 'replication is not supported');
      return;
    }
    if (this.#clients.size >= maxClients) {
      refuse(socket, '53300', `sorry, too many clients already: at most ${maxClients}`);
      return;
    }
    this.#lastPid += 1;
    const pid = this.#lastPid;
    const client: Client = { secret: randomInt(-(2 ** 31), 2 ** 31 - 1), session: undefined };
    this.#clients.set(pid, client);
    socket.once('close', () => {
      this.#clients.delete(pid);
      void client.session?.close();
    });
    let engine: Engine | undefined;
    try {
      negotiate(socket, startup);
      if (secret !== undefined && !(await logIn(socket, secret))) {
        refuse(socket, '28P01', 'password authentication failed');
        return;
      }
      socket.write(message('R', int32(0)));
      engine = await this.#shelf.take();
      const refused = await applySettings(engine, startup);
      if (refused !== undefined) {
        refuse(socket, refused.code, refused.text);
        await this.#shelf.discard(engine);
        return;
      }
      if (socket.destroyed) {
        await this.#shelf.discard(engine);
        return;
      }
      const { rows, limits } = this.#options;
      const session = new SqlSession({ shelf: this.#shelf, rows, limits, socket, engine });
      client.session = session;
      clearTimeout(timer);
      const reported = await reportedSettings(engine);
      socket.write(
        Buffer.concat([
          ...reported,
          message('K', int32(pid), int32(client.secret)),
          readyForQuery(),
        ]),
      );
      socket.on('data', (chunk) => session.receive(chunk));
      socket.resume();
    } catch (error) {
      if (engine !== undefined) await this.#shelf.discard(engine);
      refuse(socket, '57P03', error instanceof Error ? error.message : String(error));
    }
  }
}

function refuse(socket: Socket, code: string, text: string): void {
  socket.end(errorResponse({ severity: 'FATAL', code, text }));
}

/** A client that speaks a newer 3.x, or asks for extensions, is told that we have 3.0 and none. */
function negotiate(socket: Socket, { minor, parameters }: Startup): void {
  const unknown = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'));
  if (minor === 0 && unknown.length === 0) return;
  socket.write(message('v', int32(0), int32(unknown.length), ...unknown));
}

async function applySettings(
  engine: Engine,
  { parameters }: Startup,
): Promise<{ code: string; text: string } | undefined> {
  for (const setting of settingsOf(parameters)) {
    const sql = 'SELECT pg_catalog.set_config($1, $2, false)';
    const { failure } = await ask(engine, parametrized(sql, setting));
    if (failure !== undefined) return failure;
  }
  return undefined;
}

async function reportedSettings(engine: Engine): Promise<Buffer[]> {
  const names = REPORTED.map((name) => `'${name}'`).join(', ');
  const { results } = await ask(
    engine,
    query(`SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN (${names})
           UNION ALL SELECT 'session_authorization', session_user UNION ALL SELECT 'is_superuser', 'off'`),
  );
  return (results[0]?.rows ?? []).map(([name, value]) => parameterStatus(name ?? '', value ?? ''));
}

async function ask(engine: Engine, bytes: Uint8Array): Promise<ReturnType<typeof readAnswer>> {
  const chunks: Uint8Array[] = [];
  await engine.run({ files: [], bytes }, (chunk) => chunks.push(chunk));
  return readAnswer(chunks);
}
