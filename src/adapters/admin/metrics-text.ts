import type { AdminStore } from '../../workers/admin-servers.js';
import type { KvStoreStats } from '../../workers/kv/kv-store.js';
import type { RuntimeSnapshot } from '../../workers/snapshot.js';
import { refusal } from './admin-refusal.js';
import { RefusedRequest } from './config-json.js';

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/**
 * What a scrape gets, from a register of its own: of the runtime, and of the stores, whose tables are named `store/table`
 * when there is more than one.
 * @throws RefusedRequest when the optional peer is not installed.
 */
export function createMetricsText(
  runtime: { snapshot(): RuntimeSnapshot },
  stores: Readonly<Record<string, AdminStore>>,
): () => Promise<MetricsText> {
  let loading: Promise<() => Promise<MetricsText>> | undefined;
  return async () => {
    loading ??= load(runtime, stores);
    return (await loading)();
  };
}

async function load(
  runtime: { snapshot(): RuntimeSnapshot },
  stores: Readonly<Record<string, AdminStore>>,
): Promise<() => Promise<MetricsText>> {
  const [{ Registry }, { createPrometheusMetrics }, { createKvPrometheusMetrics }] =
    await Promise.all([
      import('prom-client'),
      import('../prometheus.js'),
      import('../kv-prometheus.js'),
    ]).catch(() => {
      const message = 'prom-client cannot be loaded: install it (npm install prom-client@15)';
      throw new RefusedRequest(refusal(501, message));
    });
  const register = new Registry();
  createPrometheusMetrics(runtime, { register });
  if (Object.keys(stores).length > 0) createKvPrometheusMetrics(together(stores), { register });
  return async () => ({ contentType: register.contentType, text: await register.metrics() });
}

/** All stores as one. No two tables get one name: what stands before the first slash is the store. */
function together(stores: Readonly<Record<string, AdminStore>>): AdminStore {
  const named = Object.entries(stores);
  const nameOf = (store: string, table: string): string =>
    named.length === 1 ? table : `${store.replaceAll('%', '%25').replaceAll('/', '%2F')}/${table}`;
  return {
    stats(): KvStoreStats {
      const each = named.map(([name, store]) => ({ name, ...store.stats() }));
      return {
        tables: each.flatMap(({ name, tables }) =>
          tables.map((one) => ({ ...one, table: nameOf(name, one.table) })),
        ),
        logBytes: each.reduce((sum, { logBytes }) => sum + logBytes, 0),
      };
    },
    async stalledMs() {
      const each = await Promise.all(
        named.map(async ([name, store]) =>
          Object.entries(await store.stalledMs()).map(([table, ms]): [string, number] => [
            nameOf(name, table),
            ms,
          ]),
        ),
      );
      return Object.fromEntries(each.flat());
    },
  };
}
