/** The routes of the admin server, put into a fastify instance. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AdminStore } from '../../workers/admin-servers.js';
import type { StateOptions } from '../../workers/state/state-reader.js';
import { type AdminRefusal, refusal, refusalBody, refusalOf } from './admin-refusal.js';
import type { AdminSource } from './admin-source.js';
import { configJson, RefusedRequest, readPatch, wantedVersion } from './config-json.js';
import { dashboardPage } from './dashboard/page.js';
import { EventStreams, type StreamSink } from './event-streams.js';
import { createMetricsText } from './metrics-text.js';
import { guard } from './request-guard.js';
import { SECURITY_HEADERS } from './security-headers.js';

export interface AdminRouteParts {
  readonly source: AdminSource;
  readonly stores: Readonly<Record<string, AdminStore>>;
  /** undefined: no token is asked for. */
  readonly hasToken: ((authorization: string | undefined) => boolean) | undefined;
}

/** What is allowed at each path. */
export const ADMIN_ROUTES: Readonly<Record<string, string>> = {
  '/': 'GET, HEAD',
  '/metrics': 'GET, HEAD',
  '/healthz': 'GET, HEAD',
  '/state': 'GET, HEAD',
  '/events': 'GET, HEAD',
  '/config': 'GET, HEAD, PATCH',
};

const MAX_BODY_BYTES = 65_536;
const MAX_STREAMS = 64;
const MAX_PENDING_BYTES = 1_048_576;
const JSON_TYPE = 'application/json; charset=utf-8';
const STREAM_HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  'content-type': 'text/event-stream; charset=utf-8',
  // A proxy that gathers before it passes on would hold back all that is live.
  'x-accel-buffering': 'no',
};

/** What runs on after an answer, the event streams, ends when the instance closes. */
export function addAdminRoutes(app: FastifyInstance, parts: AdminRouteParts): void {
  const { source, stores, hasToken } = parts;
  const state = (options: StateOptions = {}) => source.state({ stores, ...options });
  const streams = new EventStreams(
    {
      state: () => state(),
      recordedEvents: (sinceSeq) => source.recordedEvents(sinceSeq),
      onRecorded: (listener) => source.onRecorded(listener),
    },
    { maxStreams: MAX_STREAMS, maxPendingBytes: MAX_PENDING_BYTES },
  );
  const metrics = createMetricsText(source, stores);

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    const { method, headers, socket } = request;
    const path = pathOf(request, app.prefix);
    const { remoteAddress } = socket;
    const told = guard({ method, path, headers, remoteAddress }, hasToken);
    if (told !== undefined) return sendRefusal(reply, told);
  });
  app.addHook('preClose', async () => streams.close());
  app.setErrorHandler((error, _request, reply) => {
    sendRefusal(reply, error instanceof RefusedRequest ? error.refusal : refusalOf(error));
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, readBody);

  app.get('/', { exposeHeadRoute: true, prefixTrailingSlash: 'slash' }, async (_request, reply) => {
    const { html, contentSecurityPolicy } = dashboardPage();
    reply.header('content-security-policy', contentSecurityPolicy);
    return reply.type('text/html; charset=utf-8').send(html);
  });
  app.get('/metrics', { exposeHeadRoute: true }, async (_request, reply) => {
    const { contentType, text } = await metrics();
    return reply.type(contentType).send(text);
  });
  app.get('/healthz', { exposeHeadRoute: true }, async (_request, reply) => {
    const { status, ...vitals } = source.health();
    const { backendId } = source.config();
    const body = {
      status,
      backendId: backendId === null ? null : String(backendId),
      ...vitals,
    };
    return sendJson(reply.code(status === 'ok' ? 200 : 503), JSON.stringify(body));
  });
  app.get('/state', { exposeHeadRoute: true }, async (request, reply) =>
    sendJson(reply, JSON.stringify(state(stateOptions(request.query)))),
  );
  app.get('/config', { exposeHeadRoute: true }, async (_request, reply) => {
    const { configVersion } = source;
    reply.header('etag', `"${configVersion}"`);
    return sendJson(reply, configJson(configVersion, source.config()));
  });
  app.patch('/config', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const patch = readPatch(request.body);
    const ifVersion = wantedVersion(request.headers['if-match'], source.configVersion);
    const { version } = await source.updateConfig(patch, {
      ...(ifVersion !== undefined && { ifVersion }),
    });
    reply.header('etag', `"${version}"`);
    return sendJson(reply, JSON.stringify({ version }));
  });
  app.head('/events', async (_request, reply) => reply.headers(STREAM_HEADERS).send());
  app.get('/events', { exposeHeadRoute: false }, (request, reply) => {
    openStream(streams, request, reply);
  });
}

export function sendRefusal(reply: FastifyReply, told: AdminRefusal): FastifyReply {
  return sendJson(reply.code(told.status).headers(told.headers ?? {}), refusalBody(told));
}

/** @throws RefusedRequest */
function stateOptions(query: unknown): StateOptions {
  const { maxPairs } = query as { readonly maxPairs?: unknown };
  if (maxPairs === undefined) return {};
  if (typeof maxPairs !== 'string' || !/^\d{1,9}$/.test(maxPairs))
    throw new RefusedRequest(refusal(400, 'maxPairs must be an integer >= 0'));
  return { maxPairs: Number(maxPairs) };
}

/** Of the routes, whatever stands before it. */
export function pathOf({ url }: { readonly url: string }, prefix: string): string {
  const [path = ''] = url.split('?', 1);
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply.type(JSON_TYPE).send(body);
}

function openStream(streams: EventStreams, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply;
  const sink: StreamSink = {
    write(frame) {
      if (!raw.headersSent) {
        reply.hijack();
        raw.writeHead(200, STREAM_HEADERS);
      }
      raw.write(frame);
    },
    pendingBytes: () => raw.writableLength,
    drop: () => void raw.destroy(),
    end: () => void raw.end(),
  };
  // The other end may be gone already; the close tells.
  raw.on('error', () => undefined);
  const [, lastEventId] = /^(\d{1,15})$/.exec(String(request.headers['last-event-id'])) ?? [];
  const ended = streams.open(sink, lastEventId === undefined ? undefined : Number(lastEventId));
  if (ended === undefined) {
    const message = `${MAX_STREAMS} streams are open, or the server is closing`;
    sendRefusal(reply, refusal(503, message, { 'retry-after': '5' }));
    return;
  }
  raw.once('close', ended);
  if (raw.closed || raw.destroyed) ended();
}

/** As it came: what is in it is judged by the route. */
async function readBody(_request: FastifyRequest, body: Buffer): Promise<Buffer> {
  return body;
}
