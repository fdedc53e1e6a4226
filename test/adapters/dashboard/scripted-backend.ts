/** Serves the page, and one state that a test has made up. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dashboardPage } from '../../../dist/adapters/admin/dashboard/page.js';
import type { RuntimeState } from '../../../src/workers/state/runtime-state.js';

export interface ScriptedBackend {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveState(state: () => RuntimeState): Promise<ScriptedBackend> {
  const { html, contentSecurityPolicy } = dashboardPage();
  const server = createServer(({ url }, answer) => {
    if (url === '/') {
      answer.setHeader('content-security-policy', contentSecurityPolicy);
      answer.setHeader('content-type', 'text/html; charset=utf-8');
      answer.end(html);
    } else if (url === '/state') {
      answer.setHeader('content-type', 'application/json');
      answer.end(JSON.stringify(state()));
    } else answer.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
