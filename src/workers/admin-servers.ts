/** The admin servers of a runtime: started on request by an adapter, closed with the runtime. */
import { RuntimeClosedError } from '../shared/errors.js';
import type { KvStoreStats } from './kv/kv-store.js';

/** A key-value store as the admin server shows it; what `openKvStore` gives is one. */
export interface AdminStore {
  stats(): KvStoreStats;
  /** How long writers were held up in the engines, ms by table. */
  stalledMs(): Promise<Readonly<Record<string, number>>>;
}

export interface AdminListenOptions {
  /** An integer from 0 to 65535; 0: one that is free. */
  readonly port: number;
  /** An address, or a name that is resolved once. Default `127.0.0.1`. Anything but a loopback address needs a `token`. */
  readonly host?: string;
  /**
   * What requests must bring as `Authorization: Bearer TOKEN`: 16 to 256 printable ASCII characters without spaces.
   * Default: none; only requests from this machine to a loopback name are answered then.
   */
  readonly token?: string;
  /** Key-value stores to show, by the name to show them under; at most 64. They stay the caller's. */
  readonly stores?: Readonly<Record<string, AdminStore>>;
}

export interface AdminServer {
  /** Of the dashboard, without a trailing slash: `http://127.0.0.1:9090`. */
  readonly url: string;
  readonly port: number;
  /** Ends all connections, open event streams too. Idempotent; also done by `runtime.close()`. */
  close(): Promise<void>;
}

/** `runtime.admin` */
export interface RuntimeAdmin {
  /**
   * Starts an HTTP server in this thread: dashboard, metrics, health, state, events, configuration. Each call starts one
   * more. Needs the optional peer `fastify`, and for `/metrics` `prom-client`. Does not keep the process alive.
   * @throws (rejects) ConfigError for a bad option, before anything listens; RuntimeClosedError; Error with the system's
   * `code` (such as `EADDRINUSE`) when it cannot listen, and one that names the peer when that is not installed.
   */
  listen(options: AdminListenOptions): Promise<AdminServer>;
}

export class AdminServers {
  readonly #start: (options: AdminListenOptions) => Promise<AdminServer>;
  readonly #starting = new Set<Promise<AdminServer>>();
  readonly #open = new Set<AdminServer>();
  #isClosed = false;

  constructor(start: (options: AdminListenOptions) => Promise<AdminServer>) {
    this.#start = start;
  }

  listen(options: AdminListenOptions): Promise<AdminServer> {
    if (this.#isClosed) return Promise.reject(new RuntimeClosedError());
    const listening = this.#listen(options);
    this.#starting.add(listening);
    const settled = (): void => void this.#starting.delete(listening);
    listening.then(settled, settled);
    return listening;
  }

  async #listen(options: AdminListenOptions): Promise<AdminServer> {
    const started = await this.#start(options);
    if (this.#isClosed) {
      await started.close();
      throw new RuntimeClosedError();
    }
    const server: AdminServer = {
      url: started.url,
      port: started.port,
      close: async () => {
        await started.close();
        this.#open.delete(server);
      },
    };
    this.#open.add(server);
    return server;
  }

  /** Takes no more; those that are open stay so. */
  refuse(): void {
    this.#isClosed = true;
  }

  async close(): Promise<void> {
    this.refuse();
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#open].map((server) => server.close()));
  }
}
