/** `runtime.admin.listen`: the routes behind a fastify server of their own, with bounds on all that a client may do. */
import { lookup } from 'node:dns/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AdminListenOptions, AdminServer } from '../../workers/admin-servers.js';
import { configProblem } from '../../workers/config/config-problem.js';
import { type AdminRefusal, rawResponse, refusal, refusalBody } from './admin-refusal.js';
import { ADMIN_ROUTES, addAdminRoutes, pathOf, sendRefusal } from './admin-routes.js';
import type { AdminSource } from './admin-source.js';
import { tokenCheck } from './bearer-token.js';
import { resolveListenOptions } from './listen-options.js';
import { isLoopbackAddress } from './loopback.js';
import { SECURITY_HEADERS } from './security-headers.js';

/** How long a client may take, ms. */
export interface ClientPatience {
  /** For the head of a request, and for all of it. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /** Without taking a byte of what waits for it. */
  readonly stallMs: number;
  /** How often the first is looked at. */
  readonly lookMs: number;
}

const PATIENCE: ClientPatience = { requestMs: 10_000, idleMs: 5000, stallMs: 60_000, lookMs: 1000 };
const MAX_HEADER_BYTES = 8192;
/** Room for the streams and for those who scrape; more are not even accepted. */
const MAX_CONNECTIONS = 256;

/** @throws what `RuntimeAdmin.listen` says. */
export async function listenAdmin(
  source: AdminSource,
  options: AdminListenOptions,
  patience: ClientPatience = PATIENCE,
): Promise<AdminServer> {
  const { port, host, token, stores } = resolveListenOptions(options);
  const address = await addressOf(host);
  if (token === undefined && !isLoopbackAddress(address)) {
    const rule = `must be given when host is no loopback address (${host} is ${address})`;
    throw configProblem('token', rule, undefined);
  }
  const app = await createApp(patience);
  app.addHook('onRequest', requireHost);
  addAdminRoutes(app, {
    source,
    stores,
    hasToken: token === undefined ? undefined : tokenCheck(token),
  });
  app.setNotFoundHandler(answerUnknown);
  app.server.on('checkExpectation', answerExpectation);
  app.server.maxConnections = MAX_CONNECTIONS;
  // To be seen is no reason to live on.
  app.server.on('connection', (socket: Socket) => socket.unref());
  try {
    await app.listen({ port, host: address });
  } catch (error) {
    await app.close();
    throw listenError(error, host, port);
  }
  app.server.unref();
  const bound = (app.server.address() as AddressInfo).port;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${isIPv6(address) ? `[${address}]` : address}:${bound}`,
    port: bound,
    close() {
      closing ??= app.close();
      return closing;
    },
  };
}

/** Resolved once, so that what is listened on is what was judged. */
async function addressOf(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (cause) {
    throw configProblem('host', 'must be an address, or a name that has one', host, '', { cause });
  }
}

async function createApp(patience: ClientPatience): Promise<FastifyInstance> {
  const { fastify } = await import('fastify').catch((cause: unknown) => {
    const message =
      'fastify cannot be loaded: install it (npm install fastify@5) to use the admin server';
    throw new Error(message, { cause });
  });
  return fastify({
    logger: false,
    // Open streams do not end by themselves.
    forceCloseConnections: true,
    // What comes meanwhile is answered as ever, or not at all.
    return503OnClosing: false,
    requestTimeout: patience.requestMs,
    keepAliveTimeout: patience.idleMs,
    connectionTimeout: patience.stallMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      // Asked for below, in our own words.
      requireHostHeader: false,
      headersTimeout: patience.requestMs,
      connectionsCheckingInterval: patience.lookMs,
    },
    // Before any route, so before all that is said of routes.
    frameworkErrors: (_error, _request, reply) => {
      reply.headers(SECURITY_HEADERS);
      sendRefusal(reply as FastifyReply, refusal(400, 'the URL is malformed'));
    },
    clientErrorHandler: answerBadClient,
  });
}

/** As HTTP 1.1 has it. */
async function requireHost(
  { headers, raw }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if (headers.host !== undefined || raw.httpVersion === '1.0') return undefined;
  reply.headers(SECURITY_HEADERS);
  return sendRefusal(reply, refusal(400, 'there must be a Host header'));
}

/** Of `Expect` only `100-continue` is known, which Node answers itself. */
function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const told = refusal(417, 'Expect may only be 100-continue');
  const body = refusalBody(told);
  response.writeHead(told.status, {
    ...SECURITY_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}

/** Nothing that can be done with it, or nothing there. */
function answerUnknown(request: FastifyRequest, reply: FastifyReply): void {
  const path = pathOf(request, '');
  const allow = ADMIN_ROUTES[path];
  if (allow === undefined) {
    sendRefusal(reply, refusal(404, 'nothing is served at this path'));
  } else if (request.method === 'OPTIONS') {
    reply.code(204).header('allow', allow).send();
  } else {
    sendRefusal(reply, refusal(405, `the method must be one of ${allow}`, { allow }));
  }
}

function answerBadClient(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code !== 'ECONNRESET' && socket.writable) {
    socket.write(rawResponse(badClient(error.code)));
  }
  socket.destroy(error);
}

function badClient(code: string | undefined): AdminRefusal {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refusal(408, 'the request took too long');
    case 'HPE_HEADER_OVERFLOW':
      return refusal(431, `URL and headers must have at most ${MAX_HEADER_BYTES} bytes`);
    default:
      return refusal(400, 'that is no HTTP');
  }
}

function listenError(error: unknown, host: string, port: number): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'the port is in use' : message;
  const told = new Error(`cannot listen on ${host}, port ${port}: ${reason}`, { cause: error });
  return Object.assign(told, { code });
}
