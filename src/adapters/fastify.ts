import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatPressure, PRESSURE_KEY } from '../shared/pressure/pressure-text.js';
import {
  PressureMonitor,
  type ServerPressureOptions,
  type Watched,
} from './pressure/pressure-monitor.js';

export {
  eventLoopUtilization,
  type LoopUtilizationOptions,
  type PressureRamp,
  type PressureSource,
  queueLength,
} from './pressure/pressure-source.js';

/** See {@link fastifyPressure}. */
export type FastifyPressureOptions = ServerPressureOptions<FastifyRequest>;

/**
 * A plugin for fastify 5 that tells clients how hard the server is pressed, and refuses what it cannot take:
 *
 * - every response has the header `spillway-pressure` while there is a pressure, as it is when the response goes out;
 * - from `hardLimit` on a request is answered with 503 and `Retry-After` before anything of it is read or done.
 *
 * `app.register(fastifyPressure, { source: eventLoopUtilization() })`. It is in force for all routes of the instance that it
 * is registered on, also for those of other plugins there.
 *
 * @throws (through `app.ready()`) TypeError, RangeError for bad options.
 */
export const fastifyPressure: (
  app: FastifyInstance,
  options: FastifyPressureOptions,
  done: (error?: Error) => void,
) => void = Object.assign(
  (app: FastifyInstance, options: FastifyPressureOptions, done: (error?: Error) => void): void => {
    let monitor: PressureMonitor<FastifyRequest>;
    try {
      monitor = new PressureMonitor(withoutPrefix(options));
      monitor.start();
    } catch (error) {
      done(error as Error);
      return;
    }
    const watched = new WeakMap<FastifyRequest, Watched>();
    app.addHook('onRequest', (request, reply, next) => {
      const one = monitor.watch(request);
      if (one === undefined) {
        next();
        return;
      }
      watched.set(request, one);
      if (monitor.refuses(monitor.pressure(one))) refuse(reply, monitor.retryAfterMs);
      else next();
    });
    app.addHook('onSend', (request, reply, _payload, next) => {
      const one = watched.get(request);
      const text = one && formatPressure(monitor.pressure(one));
      if (text !== undefined) reply.header(PRESSURE_KEY, text);
      next();
    });
    app.addHook('onClose', (_app, closed) => {
      monitor.close();
      closed();
    });
    done();
  },
  {
    // As fastify asks of a plugin that is not only for the routes it registers itself.
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'spillway-pressure',
    [Symbol.for('plugin-meta')]: { name: 'spillway-pressure', fastify: '5.x' },
  },
);

/** Without a logged error for each: there are many of them, and they are meant. */
function refuse(reply: FastifyReply, retryAfterMs: number): void {
  void reply
    .code(503)
    .header('retry-after', String(Math.max(Math.ceil(retryAfterMs / 1000), 1)))
    .send({
      statusCode: 503,
      code: 'ERR_SPILLWAY_BUSY',
      error: 'Service Unavailable',
      message: 'the server is under too much pressure',
    });
}

/** fastify puts its own options among a plugin's. */
function withoutPrefix(options: FastifyPressureOptions): FastifyPressureOptions {
  const own: Record<string, unknown> = { ...options };
  for (const name of ['prefix', 'logLevel', 'logSerializers']) delete own[name];
  return own as unknown as FastifyPressureOptions;
}
