/** `npm run kv:server`: a store behind `spillway.kv.v1`, until SIGTERM or SIGINT. */
import { basename, resolve as resolvePath } from 'node:path';
import { describeKvEvent } from '../workers/kv/kv-event.js';
import { openKvStore } from './kv-open.js';
import { type KvServer, startKvServer } from './kv-server.js';
import {
  KV_SERVER_USAGE,
  type KvServerArguments,
  readKvServerArguments,
} from './kv-server-arguments.js';
import { type KvServerHttp, serveKvHttp } from './kv-server-http.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

function readArguments(): KvServerArguments | undefined {
  try {
    return readKvServerArguments(process.argv.slice(2));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    complain(`kv:server: ${reason}\n\n${KV_SERVER_USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

async function run({
  store: options,
  host,
  port,
  advertise,
  metricsPort,
  drainMs,
}: KvServerArguments): Promise<void> {
  const store = await openKvStore({
    ...options,
    onEvent: (event) => complain(describeKvEvent(event)),
  });
  let server: KvServer | undefined;
  let http: KvServerHttp | undefined;
  try {
    server = await startKvServer({
      store,
      host,
      port,
      ...(advertise === undefined ? {} : { advertise }),
    });
    if (metricsPort !== undefined) {
      const name = basename(resolvePath(options.dir));
      http = await serveKvHttp({ store, name, host, port: metricsPort });
    }
    say(`listening on ${host}:${server.port}`);
    if (http !== undefined) say(`metrics on http://${host}:${http.port}/metrics`);
    await new Promise<void>((resolve) => {
      process.once('SIGTERM', resolve);
      process.once('SIGINT', resolve);
    });
    http?.drain();
    await server.close({ deadlineMs: drainMs });
  } finally {
    http?.close();
    // Also when HTTP could not be served: what still listens would keep the process.
    await server?.close({ deadlineMs: 0 });
    await store.close();
  }
  say('closed');
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

const given = readArguments();
if (given !== undefined) {
  run(given).catch((error: unknown) => {
    complain(describe(error));
    process.exitCode = 1;
  });
}
