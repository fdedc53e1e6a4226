/**
 * `spillway/adapters/admin`: the routes of the admin server for a fastify 5 (optional peer) of your own. Most want
 * `runtime.admin.listen` instead.
 */
import type { FastifyInstance } from 'fastify';
import type { AdminStore } from '../workers/admin-servers.js';
import { configProblem } from '../workers/config/config-problem.js';
import { addAdminRoutes } from './admin/admin-routes.js';
import type { AdminSource } from './admin/admin-source.js';
import { isToken, tokenCheck } from './admin/bearer-token.js';
import { readStores, tokenProblem } from './admin/listen-options.js';

export type { AdminSource } from './admin/admin-source.js';

export interface AdminRoutesOptions {
  /** What `createRuntime` gives. */
  readonly runtime: AdminSource;
  /** As for `runtime.admin.listen`. Without one only requests of this machine to a loopback name are answered. */
  readonly token?: string;
  readonly stores?: Readonly<Record<string, AdminStore>>;
}

/**
 * `await app.register(adminRoutes, { prefix: '/spillway', runtime, token })`: a fastify plugin. Time-outs, and what is
 * answered to other methods and paths, are those of `app`; event streams end when it closes.
 * @throws (rejects) ConfigError for a bad option.
 */
export async function adminRoutes(
  app: FastifyInstance,
  options: AdminRoutesOptions,
): Promise<void> {
  const { runtime, token, stores } = options;
  if (typeof (runtime as AdminSource | undefined)?.recordedEvents !== 'function') {
    throw configProblem('runtime', 'must be a runtime', runtime);
  }
  if (token !== undefined && !isToken(token)) throw tokenProblem(token);
  addAdminRoutes(app, {
    source: runtime,
    stores: readStores(stores),
    hasToken: token === undefined ? undefined : tokenCheck(token),
  });
}
