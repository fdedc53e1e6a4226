import type { Metadata, ServerInterceptor } from '@grpc/grpc-js';
import { formatPressure, PRESSURE_KEY } from '../shared/pressure/pressure-text.js';
import { loadPeer } from './load-peer.js';
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

/** What the callbacks get to see of a call. */
export interface GrpcServerCall {
  /** `/spillway.kv.v1.Kv/PutKv` */
  readonly path: string;
  /** Of the client. */
  readonly metadata: Metadata;
}

/** See {@link createGrpcServerPressure}. */
export type GrpcServerPressureOptions = ServerPressureOptions<GrpcServerCall>;

export interface GrpcServerPressure {
  /** For the `interceptors` of a `Server`. */
  readonly interceptor: ServerInterceptor;
  /** Ends what the sources measure; to be called when the server has been shut down. */
  close(): void;
}

type Peer = typeof import('@grpc/grpc-js');

const PUSHBACK_KEY = 'grpc-retry-pushback-ms';

/**
 * An interceptor for servers of `@grpc/grpc-js` (1.12 or newer) that tells clients how hard the server is pressed, and
 * refuses what it cannot take:
 *
 * - every call, unary or stream, ends with the trailer `spillway-pressure` while there is a pressure, as it is at its end;
 * - from `hardLimit` on a call ends with RESOURCE_EXHAUSTED and `grpc-retry-pushback-ms` before its handler is called.
 *
 * @throws TypeError, RangeError for bad options; Error when `@grpc/grpc-js` is not installed.
 */
export function createGrpcServerPressure(options: GrpcServerPressureOptions): GrpcServerPressure {
  const monitor = new PressureMonitor(options);
  const grpc = loadPeer<Peer>('@grpc/grpc-js', ' 1.12 or newer', 'this adapter');
  monitor.start();
  return {
    interceptor: interceptorOf(monitor, grpc),
    close: () => monitor.close(),
  };
}

function interceptorOf(
  monitor: PressureMonitor<GrpcServerCall>,
  { Metadata, ServerInterceptingCall, status }: Peer,
): ServerInterceptor {
  /** With what the server says of its pressure; never on an object that the application may use again. */
  const trailerOf = (
    given: Metadata | null | undefined,
    watched: Watched | undefined,
  ): Metadata => {
    const trailer = given?.clone() ?? new Metadata();
    const text = watched && formatPressure(monitor.pressure(watched));
    if (text !== undefined) trailer.set(PRESSURE_KEY, text);
    return trailer;
  };
  return ({ path }, call) => {
    let watched: Watched | undefined;
    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, go) {
            watched = monitor.watch({ path, metadata });
            if (watched === undefined || !monitor.refuses(monitor.pressure(watched))) {
              go(metadata);
              return;
            }
            const trailer = trailerOf(undefined, watched);
            trailer.set(PUSHBACK_KEY, String(Math.ceil(monitor.retryAfterMs)));
            call.sendStatus({
              code: status.RESOURCE_EXHAUSTED,
              details: 'the server is under too much pressure',
              metadata: trailer,
            });
          },
        });
      },
      sendStatus(end, next) {
        if (watched === undefined) next(end);
        else next({ ...end, metadata: trailerOf(end.metadata, watched) });
      },
    });
  };
}
