import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

it('what is for servers can be imported where no peer is installed, and then say which one is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-peers-'));
  try {
    cpSync(DIST, join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const program = `
      const { fastifyPressure, queueLength } = await import('./dist/adapters/fastify.js');
      const { createGrpcServerPressure } = await import('./dist/adapters/grpc-server.js');
      const { loadKvService } = await import('./dist/adapters/kv-protocol.js');
      const { startKvServer } = await import('./dist/adapters/kv-server.js');
      const { serveKvHttp } = await import('./dist/adapters/kv-server-http.js');
      const { createPrometheusMetrics } = await import('./dist/adapters/prometheus.js');
      const { createKvPrometheusMetrics } = await import('./dist/adapters/kv-prometheus.js');
      const { createKvWriterPrometheusMetrics } = await import('./dist/adapters/kv-writer-prometheus.js');
      console.log(typeof fastifyPressure);
      for (const use of [
        () => createGrpcServerPressure({ source: queueLength(() => 0, { from: 0, full: 1 }) }),
        () => loadKvService(),
        () => startKvServer({ store: {} }),
        () => serveKvHttp({}),
        () => createPrometheusMetrics({}),
        () => createKvPrometheusMetrics({}),
        () => createKvWriterPrometheusMetrics({}),
      ]) {
        try {
          await use();
        } catch (error) {
          console.log(error.message);
        }
      }
    `;
    const args = ['--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
    expect(stdout.trim().split('\n')).toEqual([
      'function',
      '@grpc/grpc-js 1.12 or newer must be installed for this adapter',
      '@grpc/proto-loader must be installed for the protocol',
      '@grpc/grpc-js must be installed for this server',
      'prom-client must be installed for metrics',
      'prom-client must be installed for metrics',
      'prom-client must be installed for metrics',
      'prom-client must be installed for metrics',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
