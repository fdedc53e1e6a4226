import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

it('the helpers for servers can be imported where no peer is installed, and then say which one is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-peers-'));
  try {
    cpSync(DIST, join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const program = `
      const { fastifyPressure, queueLength } = await import('./dist/adapters/fastify.js');
      const { createGrpcServerPressure } = await import('./dist/adapters/grpc-server.js');
      console.log(typeof fastifyPressure);
      try {
        createGrpcServerPressure({ source: queueLength(() => 0, { from: 0, full: 1 }) });
      } catch (error) {
        console.log(error.message);
      }
    `;
    const args = ['--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
    expect(stdout).toBe(
      'function\n@grpc/grpc-js 1.12 or newer must be installed for this adapter\n',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
